// SPDX-License-Identifier: Apache-2.0
package io.reprise.simulator;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** An experiment that does the same to several contestants, each a row of its table or some. */
abstract class Contest<T> implements Experiment {

    private final List<T> contestants = new ArrayList<>();

    Contest(Collection<? extends T> contestants) {
        this.contestants.addAll(contestants);
    }

    /** The policy of its rows. */
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
