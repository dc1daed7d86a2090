// SPDX-License-Identifier: Apache-2.0
package io.reprise.text;

import java.util.AbstractSet;
import java.util.Collections;
import java.util.Iterator;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Names that were checked, in alphabetical order. They need no second check: jobs of one call often have the same tags.
 * Immutable.
 */
public final class CheckedNames extends AbstractSet<String> {

    private final Set<String> sorted;

    /** Copies names that the caller has checked. */
    public CheckedNames(Set<String> checked) {
        this.sorted = Collections.unmodifiableSet(new TreeSet<>(checked));
    }

    @Override
    public boolean contains(@Nullable Object name) {
        return name != null && sorted.contains(name);
    }

    @Override
    public Iterator<String> iterator() {
        return sorted.iterator();
    }

    @Override
    public int size() {
        return sorted.size();
    }
}
