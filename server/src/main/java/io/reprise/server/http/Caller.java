// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.http;

import io.reprise.job.JobSpec.Needs;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The sender of a request.
 *
 * @param name name in the audit log
 * @param tenant the tenant whose jobs it may see; null for all
 * @param bounds jobs that it may enqueue and lease
 * @param login the key and the session by which it was admitted
 */
public record Caller(
        String name, Set<Scope> scopes, @Nullable String tenant, Bounds bounds, Login login) {

    /**
     * The key and the session of a caller.
     *
     * @param key id of the key; null without one
     * @param session id of the session; null without one
     */
    public record Login(@Nullable String key, @Nullable String session) {

        public static final Login NONE = new Login(null, null);
    }

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
            if (!queues.isEmpty() && !queues.contains(Needs.base(queue)) && !queues.contains(queue)) {
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
        this(name, scopes, tenant, Bounds.NONE, Login.NONE);
    }

    /** Returns this caller with the session by which it was admitted. */
    public Caller in(String session) {
        return new Caller(name, scopes, tenant, bounds, new Login(login.key, session));
    }

    /** Returns whose share of the server's threads and time it uses: all keys of a tenant have one, other keys one each. */
    public String owner() {
        return tenant == null ? name : "tenant " + tenant;
    }

    public boolean may(Scope scope) {
        return scopes.contains(scope) || scopes.contains(Scope.ADMIN);
    }
}
