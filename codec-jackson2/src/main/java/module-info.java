// SPDX-License-Identifier: Apache-2.0
import org.jspecify.annotations.NullMarked;

/** Payloads as JSON by Jackson 2. Open the packages of your payload classes to {@code com.fasterxml.jackson.databind}. */
@NullMarked
@SuppressWarnings("module") // The digit is part of the name that users know.
module io.reprise.jackson2 {
    requires static org.jspecify;
    requires transitive io.reprise.core;
    requires transitive com.fasterxml.jackson.core;
    requires transitive com.fasterxml.jackson.databind;
    requires com.fasterxml.jackson.datatype.jdk8;
    requires com.fasterxml.jackson.datatype.jsr310;

    exports io.reprise.jackson2;

    provides io.reprise.PayloadCodec with
            io.reprise.jackson2.Jackson2Codec;
}
