// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.http;

import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Who sends a request.
 *
 * @param name as it is written into the audit log
 * @param tenant whose jobs it may see; null for everybody's
 */
public record Caller(
        String name, Set<Scope> scopes, @Nullable String tenant) {

    /** Nobody in particular: what needs no key is done for them. */
    public static final Caller ANYONE = new Caller("anyone", Set.of(), null);

    public Caller {
        scopes = Set.copyOf(scopes);
    }

    public boolean may(Scope scope) {
        return scopes.contains(scope) || scopes.contains(Scope.ADMIN);
    }
}
