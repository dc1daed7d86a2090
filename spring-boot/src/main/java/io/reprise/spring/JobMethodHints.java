// SPDX-License-Identifier: Apache-2.0
package io.reprise.spring;

import java.lang.reflect.Method;
import java.lang.reflect.Type;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.BindingReflectionHintsRegistrar;
import org.springframework.aot.hint.ExecutableMode;
import org.springframework.aot.hint.ReflectionHints;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.beans.factory.aot.BeanRegistrationAotContribution;
import org.springframework.beans.factory.aot.BeanRegistrationAotProcessor;
import org.springframework.beans.factory.support.RegisteredBean;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.util.ClassUtils;

/**
 * Tells an ahead-of-time build what is called or read by reflection: annotated methods, their payloads and results, and
 * the scripts that create the tables.
 */
final class JobMethodHints implements BeanRegistrationAotProcessor, RuntimeHintsRegistrar {

    private static final String SCRIPTS = "io/reprise/jdbc/*/*.sql";

    private final BindingReflectionHintsRegistrar bindings = new BindingReflectionHintsRegistrar();

    @Override
    public @Nullable BeanRegistrationAotContribution processAheadOfTime(RegisteredBean bean) {
        Class<?> type = ClassUtils.getUserClass(bean.getBeanClass());
        Set<Method> methods =
                MethodIntrospector.selectMethods(type, (org.springframework.util.ReflectionUtils.MethodFilter)
                        method -> AnnotatedElementUtils.hasAnnotation(method, RepriseJob.class)
                                || AnnotatedElementUtils.hasAnnotation(method, RepriseSchedule.class));
        return methods.isEmpty()
                ? null
                : (context, code) ->
                        methods.forEach(method -> add(context.getRuntimeHints().reflection(), method));
    }

    private void add(ReflectionHints hints, Method method) {
        hints.registerMethod(method, ExecutableMode.INVOKE);
        for (Type parameter : method.getGenericParameterTypes()) {
            if (parameter != io.reprise.JobContext.class) {
                bindings.registerReflectionHints(hints, parameter);
            }
        }
        if (method.getReturnType() != void.class) {
            bindings.registerReflectionHints(hints, method.getGenericReturnType());
        }
    }

    @Override
    public void registerHints(RuntimeHints hints, @Nullable ClassLoader loader) {
        hints.resources().registerPattern(SCRIPTS);
    }
}
