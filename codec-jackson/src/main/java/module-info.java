// SPDX-License-Identifier: Apache-2.0
import org.jspecify.annotations.NullMarked;

/** Payloads as JSON by Jackson. Open the packages of your payload classes to {@code tools.jackson.databind}. */
@NullMarked
module io.reprise.jackson {
    requires static org.jspecify;
    requires transitive io.reprise.core;
    requires transitive tools.jackson.core;
    requires transitive tools.jackson.databind;

    exports io.reprise.jackson;

    provides io.reprise.PayloadCodec with
            io.reprise.jackson.JacksonCodec;
}
