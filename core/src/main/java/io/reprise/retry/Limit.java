// SPDX-License-Identifier: Apache-2.0
package io.reprise.retry;

import java.util.Optional;

/**
 * A limit of a policy: unset, none, or a value.
 *
 * <p>The three differ. An <i>unset</i> limit comes from the layer beneath. <i>None</i> means unlimited. Immutable and
 * thread-safe.
 *
 * @param <T> type of the value
 * @since 0.1.0
 */
public sealed interface Limit<T> {

    /**
     * This layer does not decide; the layer beneath does.
     *
     * @param <T> type of the value
     */
    record Unset<T>() implements Limit<T> {}

    /**
     * This layer decides that there is no limit.
     *
     * @param <T> type of the value
     */
    record None<T>() implements Limit<T> {}

    /**
     * This layer decides on a limit.
     *
     * @param <T> type of the value
     * @param value the limit
     */
    record Of<T>(T value) implements Limit<T> {}

    /** Returns a limit that the layer beneath decides. */
    static <T> Limit<T> unset() {
        return new Unset<>();
    }

    /** Returns the decision that there is no limit. */
    static <T> Limit<T> none() {
        return new None<>();
    }

    /** Returns a limit with this value. */
    static <T> Limit<T> of(T value) {
        return new Of<>(value);
    }

    /** Returns whether this layer decides: true for a value and for none. */
    default boolean isSet() {
        return !(this instanceof Unset);
    }

    /** Returns whether this layer decides that there is no limit. */
    default boolean isNone() {
        return this instanceof None;
    }

    /** Returns the value; empty both for unset and for none. */
    default Optional<T> toOptional() {
        return this instanceof Of<T> of ? Optional.of(of.value()) : Optional.empty();
    }

    /** Returns this limit if it is set, otherwise {@code other}. */
    default Limit<T> orElse(Limit<T> other) {
        return isSet() ? this : other;
    }
}
