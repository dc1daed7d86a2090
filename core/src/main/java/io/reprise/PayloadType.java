// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;

/**
 * The type of a payload that a class cannot name, such as {@code List<Order>}. Create an anonymous subclass:
 *
 * <pre>{@code
 * JobType<List<Order>> BILL = JobType.of("bill", new PayloadType<List<Order>>() {});
 * }</pre>
 *
 * <p>Immutable and thread-safe.
 *
 * @param <P> type of the payload
 * @since 0.1.0
 */
public abstract class PayloadType<P> {

    private final Type type;

    /**
     * Reads the type argument of the subclass.
     *
     * @throws IllegalArgumentException if the subclass names no type, as a raw {@code new PayloadType() {}} does
     */
    protected PayloadType() {
        if (!(getClass().getGenericSuperclass() instanceof ParameterizedType parent)) {
            throw new IllegalArgumentException("PayloadType needs a type argument: new PayloadType<List<Order>>() {}");
        }
        this.type = parent.getActualTypeArguments()[0];
    }

    /** Returns the type with its arguments. */
    public final Type type() {
        return type;
    }

    @Override
    public final String toString() {
        return type.getTypeName();
    }
}
