// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.http;

import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Who sends a request.
 *
 * @param name as it is written into the audit log
 * @param tenant whose jobs it may see; null for everybody's
 * @param bounds what jobs it may put in and take out
 */
public record Caller(
        String name, Set<Scope> scopes, @Nullable String tenant, Bounds bounds) {

    /**
     * Jobs that a caller is bound to. Empty sets bind it to none in particular.
     *
     * @param queues by the names that the caller uses
     */
    public record Bounds(Set<String> queues, Set<String> types) {

        public static final Bounds NONE = new Bounds(Set.of(), Set.of());

        public Bounds {
            queues = Set.copyOf(queues);
            types = Set.copyOf(types);
        }

        /** Refuses jobs that are beyond them. @throws Problem naming what the key is bound to */
        public void require(String queue, String type) {
            requireQueue(queue);
            requireType(type);
        }

        public void requireQueue(String queue) {
            if (!queues.isEmpty() && !queues.contains(queue)) {
                throw Problem.of(ProblemType.FORBIDDEN, "This key is not for queue '" + queue + "'");
            }
        }

        public void requireType(String type) {
            if (!types.isEmpty() && !types.contains(type)) {
                throw Problem.of(ProblemType.FORBIDDEN, "This key is not for jobs of type '" + type + "'");
            }
        }
    }

    /** Nobody in particular: what needs no key is done for them. */
    public static final Caller ANYONE = new Caller("anyone", Set.of(), null);

    public Caller {
        scopes = Set.copyOf(scopes);
    }

    /** A caller that is not bound to any jobs in particular. */
    public Caller(String name, Set<Scope> scopes, @Nullable String tenant) {
        this(name, scopes, tenant, Bounds.NONE);
    }

    public boolean may(Scope scope) {
        return scopes.contains(scope) || scopes.contains(Scope.ADMIN);
    }
}
