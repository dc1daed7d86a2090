// SPDX-License-Identifier: Apache-2.0
import org.jspecify.annotations.NullMarked;

/** Spans for jobs, on the OpenTelemetry API. */
@NullMarked
module io.reprise.opentelemetry {
    requires static org.jspecify;
    requires transitive io.reprise.core;
    requires transitive io.opentelemetry.api;
    requires io.opentelemetry.context;
    requires org.slf4j;

    exports io.reprise.opentelemetry;
}
