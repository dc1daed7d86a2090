// SPDX-License-Identifier: Apache-2.0
package io.reprise.history;

import io.reprise.store.JobStore;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.lang.reflect.UndeclaredThrowableException;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Intercepts the calls to a store. */
@FunctionalInterface
public interface StoreCalls {

    /** One intercepted call. */
    interface Call {

        String method();

        List<@Nullable Object> arguments();

        /** Passes it on unchanged. */
        @Nullable
        Object proceed();

        /** Passes it on with other arguments. */
        @Nullable
        Object proceed(@Nullable Object... arguments);
    }

    /** Answers a call, by passing it on or otherwise. */
    @Nullable
    Object answer(Call call);

    /** Returns the store with {@code between} in front of it. */
    static JobStore before(JobStore store, StoreCalls between) {
        return (JobStore) Proxy.newProxyInstance(
                JobStore.class.getClassLoader(),
                new Class<?>[] {JobStore.class},
                (proxy, method, arguments) -> between.answer(new Passing(store, method, arguments)));
    }

    /** A call of a real method of a real store. */
    final class Passing implements Call {

        private final JobStore store;
        private final Method target;
        private final @Nullable Object @Nullable [] given;

        private Passing(JobStore store, Method target, @Nullable Object @Nullable [] given) {
            this.store = store;
            this.target = target;
            this.given = given;
        }

        @Override
        public String method() {
            return target.getName();
        }

        @Override
        public List<@Nullable Object> arguments() {
            return given == null ? List.of() : Arrays.asList(given);
        }

        @Override
        public @Nullable Object proceed() {
            return invoke(given);
        }

        @Override
        public @Nullable Object proceed(@Nullable Object... arguments) {
            return invoke(arguments);
        }

        private @Nullable Object invoke(@Nullable Object @Nullable [] arguments) {
            try {
                return target.invoke(store, arguments);
            } catch (InvocationTargetException e) {
                if (e.getCause() instanceof RuntimeException unchecked) {
                    throw unchecked;
                }
                if (e.getCause() instanceof Error error) {
                    throw error;
                }
                throw new UndeclaredThrowableException(e.getCause());
            } catch (IllegalAccessException e) {
                throw new IllegalStateException(e);
            }
        }
    }
}
