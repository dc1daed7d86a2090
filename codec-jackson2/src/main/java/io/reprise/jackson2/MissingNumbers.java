// SPDX-License-Identifier: Apache-2.0
package io.reprise.jackson2;

import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.JsonDeserializer;
import com.fasterxml.jackson.databind.deser.std.DelegatingDeserializer;
import com.fasterxml.jackson.databind.deser.std.NumberDeserializers;
import com.fasterxml.jackson.databind.module.SimpleModule;
import java.util.Map;

/**
 * Gives a primitive that is missing in the JSON its Java default. Older versions of Jackson take a missing one for null,
 * which is refused.
 */
final class MissingNumbers {

    private static final Map<Class<?>, Object> DEFAULTS = Map.of(
            boolean.class,
            false,
            byte.class,
            (byte) 0,
            short.class,
            (short) 0,
            char.class,
            (char) 0,
            int.class,
            0,
            long.class,
            0L,
            float.class,
            0f,
            double.class,
            0d);

    private MissingNumbers() {}

    static SimpleModule module() {
        SimpleModule module = new SimpleModule("reprise-missing-primitives");
        DEFAULTS.forEach((type, value) -> add(module, type, value));
        return module;
    }

    @SuppressWarnings("unchecked")
    private static <T> void add(SimpleModule module, Class<T> type, Object missing) {
        JsonDeserializer<?> usual = NumberDeserializers.find(type, type.getName());
        module.addDeserializer(type, (JsonDeserializer<? extends T>) new WithDefault(usual, missing));
    }

    private static final class WithDefault extends DelegatingDeserializer {
        private static final long serialVersionUID = 1L;

        private final transient Object missing;

        WithDefault(JsonDeserializer<?> usual, Object missing) {
            super(usual);
            this.missing = missing;
        }

        @Override
        protected JsonDeserializer<?> newDelegatingInstance(JsonDeserializer<?> other) {
            return new WithDefault(other, missing);
        }

        @Override
        public Object getAbsentValue(DeserializationContext context) {
            return missing;
        }
    }
}
