// SPDX-License-Identifier: Apache-2.0
package io.reprise.simulator.experiment;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** An experiment that treats several contestants alike. Each contestant is one or more rows of its table. */
abstract class Contest<T> implements Experiment {

    private final List<T> contestants = new ArrayList<>();

    Contest(Collection<? extends T> contestants) {
        this.contestants.addAll(contestants);
    }

    /** Returns the policy name of its rows. */
    abstract String name(T contestant);

    List<T> contestants() {
        return contestants;
    }

    @Override
    public final Set<String> policies() {
        Set<String> names = new LinkedHashSet<>();
        contestants.forEach(each -> names.add(name(each)));
        return names;
    }

    @Override
    public final void keep(Collection<String> policies) {
        for (String policy : policies) {
            if (!policies().contains(policy)) {
                throw new IllegalArgumentException(
                        "no row \"" + policy + "\"; there are " + String.join(", ", policies()));
            }
        }
        contestants.removeIf(each -> !policies.contains(name(each)));
    }
}
