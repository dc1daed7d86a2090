// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.delivery;

import io.reprise.DeferredHandler;
import io.reprise.JobHandler;

/** Handlers that wait for the end of what they have begun: virtual time knows one thread only. */
public final class Blocking {

    private Blocking() {}

    public static <P> JobHandler<P> of(DeferredHandler<P> handler) {
        return (payload, job) -> handler.handle(payload, job);
    }
}
