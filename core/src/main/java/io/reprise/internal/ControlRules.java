// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal;

import io.reprise.Resource;
import io.reprise.control.BreakerSettings;
import io.reprise.control.BudgetSettings;
import io.reprise.control.ControlKey;
import io.reprise.control.ControlSettings;
import java.util.Collection;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;

/** Which settings hold for what: a resource's own, or those of the worker. */
public final class ControlRules {

    private final ControlSettings settings;
    private final Map<String, Resource> resources;

    public ControlRules(ControlSettings settings, Collection<Resource> resources) {
        this.settings = settings;
        this.resources = resources.stream().collect(Collectors.toMap(Resource::name, Function.identity()));
    }

    Set<String> resources() {
        return resources.keySet();
    }

    BreakerSettings breaker(String resource) {
        Resource own = resources.get(resource);
        return own == null || own.breaker() == null ? settings.breaker() : own.breaker();
    }

    BudgetSettings budget(ControlKey key) {
        return switch (key.kind()) {
            case QUEUE_BUDGET -> settings.queueBudget();
            case BUDGET -> settings.budget();
            case RESOURCE_BUDGET, BREAKER -> {
                Resource own = resources.get(key.subject());
                yield own == null || own.budget() == null ? settings.resourceBudget() : own.budget();
            }
        };
    }
}
