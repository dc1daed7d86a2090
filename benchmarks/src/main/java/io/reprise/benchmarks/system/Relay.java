// SPDX-License-Identifier: Apache-2.0
package io.reprise.benchmarks.system;

import org.jspecify.annotations.Nullable;

/** Passes jobs to a handler that can be changed while the worker runs. */
final class Relay implements Handler {

    private volatile @Nullable Handler current;

    void to(Handler handler) {
        current = handler;
    }

    @Override
    public void run(String payload) throws Exception {
        Handler handler = current;
        if (handler != null) {
            handler.run(payload);
        }
    }
}
