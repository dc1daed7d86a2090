// SPDX-License-Identifier: Apache-2.0
package io.reprise.spring.dashboard;

import io.reprise.server.http.Caller;
import io.reprise.server.http.Scope;
import jakarta.servlet.http.HttpServletRequest;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.springframework.security.core.Authentication;
import org.springframework.security.core.GrantedAuthority;
import org.springframework.security.core.context.SecurityContextHolder;
import org.springframework.security.web.csrf.CsrfToken;
import org.springframework.web.util.HtmlUtils;

/** Reads from Spring Security who calls, and what the page must send with a change. */
record SecurityCallers(DashboardProperties.Authorities authorities) {

    /** Characters of a name in the audit log, which has room for a hundred in all. */
    private static final int MAX_SHOWN = 60;

    /** Returns the caller of this thread; one without scopes if nobody is logged in. */
    Caller current() {
        Authentication login = SecurityContextHolder.getContext().getAuthentication();
        if (login == null || !login.isAuthenticated()) {
            return Caller.ANYONE;
        }
        Set<String> held = login.getAuthorities().stream()
                .map(GrantedAuthority::getAuthority)
                .collect(Collectors.toSet());
        Set<Scope> scopes = EnumSet.noneOf(Scope.class);
        if (holds(held, authorities.read())) {
            scopes.add(Scope.READ);
        }
        if (holds(held, authorities.operate())) {
            scopes.addAll(Set.of(Scope.READ, Scope.OPERATE));
        }
        if (holds(held, authorities.admin())) {
            scopes.add(Scope.ADMIN);
        }
        String name = login.getName();
        // The end keeps a user from having a name like that of a tenant's key.
        return new Caller(
                "user " + (name.length() <= MAX_SHOWN ? name : name.substring(0, MAX_SHOWN)) + " (application)",
                scopes,
                null);
    }

    private static boolean holds(Set<String> held, List<String> enough) {
        return enough.stream().anyMatch(held::contains);
    }

    /** Returns attributes of the page with the token that Spring Security wants with a change; empty without one. */
    String csrfAttributes(HttpServletRequest request) {
        return request.getAttribute(CsrfToken.class.getName()) instanceof CsrfToken token
                ? "data-csrf-header=\"" + HtmlUtils.htmlEscape(token.getHeaderName()) + "\" data-csrf-token=\""
                        + HtmlUtils.htmlEscape(token.getToken()) + "\" "
                : "";
    }
}
