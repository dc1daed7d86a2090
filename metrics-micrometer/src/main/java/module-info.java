// SPDX-License-Identifier: Apache-2.0
import org.jspecify.annotations.NullMarked;

/** Jobs and retries as Micrometer meters. */
@NullMarked
module io.reprise.micrometer {
    requires static org.jspecify;
    requires transitive io.reprise.core;
    requires transitive micrometer.core;
    requires org.slf4j;

    exports io.reprise.micrometer;
}
