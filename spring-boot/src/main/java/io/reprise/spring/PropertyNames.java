// SPDX-License-Identifier: Apache-2.0
package io.reprise.spring;

import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.context.properties.source.IterableConfigurationPropertySource;
import org.springframework.core.env.Environment;
import org.springframework.core.env.PropertySource;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.env.SystemEnvironmentPropertySource;
import org.springframework.util.ClassUtils;

/**
 * Finds properties that mean nothing to Reprise. Spring Boot would ignore them, and most of them are typing errors.
 * Environment variables and system properties are left out: other programs have theirs among them.
 */
final class PropertyNames {

    private static final ConfigurationPropertyName ROOT = ConfigurationPropertyName.of("reprise");

    /** The part whose properties are in another module. */
    private static final String DASHBOARD = "dashboard";

    private static final String DASHBOARD_PROPERTIES = "io.reprise.spring.dashboard.DashboardProperties";

    private PropertyNames() {}

    /** Returns one sentence for each property that is not known. */
    static List<String> problems(Environment environment) {
        List<String> problems = new ArrayList<>();
        ConfigurationPropertySources.get(environment).forEach(source -> {
            if (source instanceof IterableConfigurationPropertySource names
                    && isChecked(source.getUnderlyingSource())) {
                names.stream()
                        .filter(ROOT::isAncestorOf)
                        .map(PropertyNames::problem)
                        .filter(problem -> !problem.isEmpty() && !problems.contains(problem))
                        .forEach(problems::add);
            }
        });
        return problems;
    }

    private static boolean isChecked(@Nullable Object source) {
        return source instanceof PropertySource<?> known
                && !(known instanceof SystemEnvironmentPropertySource)
                && !known.getName().equals(StandardEnvironment.SYSTEM_PROPERTIES_PROPERTY_SOURCE_NAME);
    }

    /** Returns what is wrong with a name, or an empty text. */
    private static String problem(ConfigurationPropertyName name) {
        Class<?> settings = RepriseProperties.class;
        int at = 1;
        while (at < name.getNumberOfElements()) {
            String element = name.getElement(at, ConfigurationPropertyName.Form.UNIFORM);
            if (at == 1 && element.equals(DASHBOARD)) {
                if (!ClassUtils.isPresent(DASHBOARD_PROPERTIES, null)) {
                    return name
                            + ": the dashboard is not there. Add reprise-spring-boot-dashboard, or remove the property";
                }
                settings = ClassUtils.resolveClassName(DASHBOARD_PROPERTIES, null);
                at++;
                continue;
            }
            RecordComponent part = parts(settings).get(element);
            if (part == null) {
                return name + ": Reprise has no such property. After '" + name.chop(at) + ".' write one of "
                        + shown(settings);
            }
            // A map has names of the application between its own name and the settings of each.
            boolean named = part.getType() == Map.class;
            settings = named ? valueType(part) : part.getType();
            at += named ? 2 : 1;
            if (!settings.isRecord()) {
                return "";
            }
        }
        return "";
    }

    private static Class<?> valueType(RecordComponent map) {
        return (Class<?>) ((ParameterizedType) map.getGenericType()).getActualTypeArguments()[1];
    }

    /** The parts of a group of settings by name, without dashes and in lower case. */
    private static Map<String, RecordComponent> parts(Class<?> settings) {
        Map<String, RecordComponent> parts = new LinkedHashMap<>();
        for (RecordComponent part : settings.getRecordComponents()) {
            parts.put(part.getName().toLowerCase(Locale.ROOT), part);
        }
        return parts;
    }

    private static Set<String> shown(Class<?> settings) {
        Set<String> shown = new TreeSet<>();
        for (RecordComponent part : settings.getRecordComponents()) {
            shown.add(part.getName().replaceAll("([A-Z])", "-$1").toLowerCase(Locale.ROOT));
        }
        if (settings == RepriseProperties.class) {
            shown.add(DASHBOARD);
        }
        return shown;
    }
}
