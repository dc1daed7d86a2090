// SPDX-License-Identifier: Apache-2.0
import org.jspecify.annotations.NullMarked;

/** Reprise: a durable job queue whose heart is retry control. */
@NullMarked
@SuppressWarnings("module") // The testkit is compiled after this module.
module io.reprise.core {
    requires static org.jspecify;
    requires org.slf4j;
    requires com.cronutils;

    exports io.reprise;
    exports io.reprise.batch;
    exports io.reprise.control;
    exports io.reprise.encryption;
    exports io.reprise.failure;
    exports io.reprise.fairness;
    exports io.reprise.insight;
    exports io.reprise.job;
    exports io.reprise.remote;
    exports io.reprise.retry;
    exports io.reprise.settings;
    exports io.reprise.step;
    exports io.reprise.store;
    exports io.reprise.testing;
    exports io.reprise.events to
            io.reprise.testkit;

    uses io.reprise.PayloadCodec;
}
