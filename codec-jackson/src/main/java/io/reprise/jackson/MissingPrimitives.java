// SPDX-License-Identifier: Apache-2.0
package io.reprise.jackson;

import java.util.Map;
import tools.jackson.databind.DeserializationContext;
import tools.jackson.databind.ValueDeserializer;
import tools.jackson.databind.deser.jdk.NumberDeserializers;
import tools.jackson.databind.deser.std.DelegatingDeserializer;
import tools.jackson.databind.module.SimpleModule;

/**
 * Gives a primitive that is missing in the JSON its Java default. Older versions of Jackson take a missing one for null,
 * which is refused.
 */
final class MissingPrimitives {

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

    private MissingPrimitives() {}

    static SimpleModule module() {
        SimpleModule module = new SimpleModule("reprise-missing-primitives");
        DEFAULTS.forEach((type, value) -> add(module, type, value));
        return module;
    }

    @SuppressWarnings("unchecked")
    private static <T> void add(SimpleModule module, Class<T> type, Object missing) {
        ValueDeserializer<?> usual = NumberDeserializers.find(type);
        module.addDeserializer(type, (ValueDeserializer<? extends T>) new WithDefault(usual, missing));
    }

    private static final class WithDefault extends DelegatingDeserializer {
        private static final long serialVersionUID = 1L;

        private final transient Object missing;

        WithDefault(ValueDeserializer<?> usual, Object missing) {
            super(usual);
            this.missing = missing;
        }

        @Override
        protected ValueDeserializer<?> newDelegatingInstance(ValueDeserializer<?> other) {
            return new WithDefault(other, missing);
        }

        @Override
        public Object getAbsentValue(DeserializationContext context) {
            return missing;
        }
    }
}
