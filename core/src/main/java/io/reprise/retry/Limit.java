// SPDX-License-Identifier: Apache-2.0
package io.reprise.retry;

import java.util.Optional;

/**
 * A limit that is either not decided here, decided to be absent, or a value.
 *
 * <p>The three must not be confused: "not set" falls through to the next layer, "none" means unlimited.
 */
public sealed interface Limit<T> {

    /** Not decided here; the layer beneath decides. */
    record Unset<T>() implements Limit<T> {}

    /** Decided: no limit. */
    record None<T>() implements Limit<T> {}

    /** Decided: this limit. */
    record Of<T>(T value) implements Limit<T> {}

    static <T> Limit<T> unset() {
        return new Unset<>();
    }

    static <T> Limit<T> none() {
        return new None<>();
    }

    static <T> Limit<T> of(T value) {
        return new Of<>(value);
    }

    default boolean isSet() {
        return !(this instanceof Unset);
    }

    default boolean isNone() {
        return this instanceof None;
    }

    /** The value; empty both for unset and for none. */
    default Optional<T> toOptional() {
        return this instanceof Of<T> of ? Optional.of(of.value()) : Optional.empty();
    }

    /** This limit if set, otherwise the other. */
    default Limit<T> orElse(Limit<T> other) {
        return isSet() ? this : other;
    }
}
