// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.http;

import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The sender of a request.
 *
 * @param name name in the audit log
 * @param tenant the tenant whose jobs it may see; null for all
 * @param bounds jobs that it may enqueue and lease
 */
public record Caller(
        String name, Set<Scope> scopes, @Nullable String tenant, Bounds bounds) {

    /**
     * The jobs that a caller is restricted to. Empty sets do not restrict it.
     *
     * @param queues by the names that the caller uses
     */
    public record Bounds(Set<String> queues, Set<String> types) {

        public static final Bounds NONE = new Bounds(Set.of(), Set.of());

        public Bounds {
            queues = Set.copyOf(queues);
            types = Set.copyOf(types);
        }

        /**
         * Refuses jobs outside the bounds.
         *
         * @throws Problem naming the bounds of the key
         */
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

    /** A caller without a key, for operations that need none. */
    public static final Caller ANYONE = new Caller("anyone", Set.of(), null);

    public Caller {
        scopes = Set.copyOf(scopes);
    }

    /** Creates a caller without bounds. */
    public Caller(String name, Set<Scope> scopes, @Nullable String tenant) {
        this(name, scopes, tenant, Bounds.NONE);
    }

    public boolean may(Scope scope) {
        return scopes.contains(scope) || scopes.contains(Scope.ADMIN);
    }
}
