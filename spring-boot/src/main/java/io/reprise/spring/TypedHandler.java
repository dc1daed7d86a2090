// SPDX-License-Identifier: Apache-2.0
package io.reprise.spring;

import io.reprise.JobHandler;
import io.reprise.JobType;

/**
 * A handler that knows its type. Beans of this type are registered without an annotation.
 *
 * @param <P> class of the payload
 * @since 0.1.0
 */
public interface TypedHandler<P> extends JobHandler<P> {

    /** Returns the type whose jobs this handler runs; always the same. */
    JobType<P> type();
}
