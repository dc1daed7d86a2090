// SPDX-License-Identifier: Apache-2.0
package io.reprise.spring;

import io.reprise.JobContext;
import io.reprise.JobHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.util.ClassUtils;

/**
 * An annotated method as a handler. The bean is looked up at the call, so that it may be lazy, scoped or proxied.
 *
 * @param method the method as its class declares it
 */
record JobMethod(BeanFactory beans, String bean, Method method) implements JobHandler<Object> {

    /** The payload of methods that take none: written as an empty object. */
    static final Map<String, Object> NO_PAYLOAD = Map.of();

    /** Returns why the method cannot be a handler; null if it can. */
    @Nullable
    String problem() {
        Class<?>[] parameters = method.getParameterTypes();
        boolean payload = payloadParameter() != null;
        if (parameters.length > (payload ? 2 : 1)
                || (parameters.length > 0 && parameters[parameters.length - 1] != JobContext.class && !payload)
                || (payload && parameters.length == 2 && parameters[1] != JobContext.class)) {
            return this + " must take a payload and a JobContext, or one of them, or nothing; not "
                    + Arrays.toString(parameters);
        }
        if (payload && !(method.getGenericParameterTypes()[0] instanceof Class<?>)) {
            return this + " takes a payload with type arguments, which stored JSON does not show: take a record that"
                    + " has such a field";
        }
        if (java.lang.reflect.Modifier.isPrivate(method.getModifiers())) {
            return this + " is private, so a proxy of its bean could not call it: remove 'private'";
        }
        return null;
    }

    private @Nullable Class<?> payloadParameter() {
        Class<?>[] parameters = method.getParameterTypes();
        return parameters.length == 0 || parameters[0] == JobContext.class ? null : parameters[0];
    }

    boolean takesPayload() {
        return payloadParameter() != null;
    }

    @SuppressWarnings("unchecked")
    Class<Object> payloadType() {
        Class<?> parameter = payloadParameter();
        return (Class<Object>) (parameter == null ? Map.class : ClassUtils.resolvePrimitiveIfNecessary(parameter));
    }

    @Override
    public void handle(Object payload, JobContext job) throws Exception {
        Object target = beans.getBean(bean);
        Method invocable = AopUtils.selectInvocableMethod(method, target.getClass());
        invocable.setAccessible(true);
        Object[] arguments = Arrays.stream(method.getParameterTypes())
                .map(type -> type == JobContext.class ? job : payload)
                .toArray();
        Object result;
        try {
            result = invocable.invoke(target, arguments);
        } catch (InvocationTargetException e) {
            throw thrown(e.getTargetException());
        }
        if (result != null) {
            job.result(result);
        }
    }

    /** The exception of the method itself, so that rules and fingerprints see what it threw. */
    private static Exception thrown(Throwable cause) {
        if (cause instanceof Error error) {
            throw error;
        }
        return cause instanceof Exception exception ? exception : new IllegalStateException(cause);
    }

    @Override
    public String toString() {
        return ClassUtils.getShortName(method.getDeclaringClass()) + "." + method.getName() + " of bean '" + bean + "'";
    }
}
