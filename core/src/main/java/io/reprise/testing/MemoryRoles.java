// SPDX-License-Identifier: Apache-2.0
package io.reprise.testing;

import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;

/** The holder of each role, and the end of its term. */
final class MemoryRoles {

    private record Term(String worker, Instant until) {}

    private final Map<String, Term> terms = new HashMap<>();

    boolean lead(String role, String worker, Duration term, Instant now) {
        Term held = terms.get(role);
        if (held != null && !held.worker.equals(worker) && held.until.isAfter(now)) {
            return false;
        }
        terms.put(role, new Term(worker, now.plus(term)));
        return true;
    }

    void resign(String role, String worker) {
        terms.computeIfPresent(role, (name, term) -> term.worker.equals(worker) ? null : term);
    }
}
