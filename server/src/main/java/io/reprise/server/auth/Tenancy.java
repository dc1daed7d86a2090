// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.auth;

import io.reprise.job.JobSpec;
import io.reprise.server.http.Caller;
import io.reprise.server.http.Problem;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Translates names between a caller and the store. Everything of tenant {@code acme} is stored under names that begin
 * with {@code acme/}: queues, resources, schedules, policies and keys of jobs. So a job belongs to the tenant of its
 * queue. A tenant's key neither sends nor sees the prefix, and sees nothing without it. Other keys see stored names.
 */
public final class Tenancy {

    static final char END = '/';

    /** First words of subjects in the audit log. No tenant has such a name: it would see entries of others. */
    public static final List<String> RESERVED = List.of(
            "address",
            "api-key",
            "batch",
            "breaker",
            "budget",
            "bulk",
            "error-note",
            "oidc",
            "operation",
            "policy",
            "queue",
            "quota",
            "replay",
            "resource",
            "schedule",
            "server-secret",
            "session",
            "settings",
            "webhook");

    private final @Nullable String prefix;

    private Tenancy(@Nullable String prefix) {
        this.prefix = prefix;
    }

    public static Tenancy of(Caller caller) {
        String tenant = caller.tenant();
        return new Tenancy(tenant == null ? null : tenant + END);
    }

    /** Returns the ending of the names of a tenant's callers. No other caller's name ends so. */
    static String of(String tenant) {
        return " of " + tenant + ")";
    }

    /** Whether a caller of the tenant did something. */
    public boolean isBy(String caller) {
        return prefix == null || caller.endsWith(of(prefix.substring(0, prefix.length() - 1)));
    }

    /** Returns the tenant of a stored name; null if it has none. */
    public static @Nullable String tenant(String stored) {
        int end = stored.indexOf(END);
        return end <= 0 ? null : stored.substring(0, end);
    }

    /** Returns null if everything is visible. */
    public @Nullable String prefix() {
        return prefix;
    }

    /**
     * Returns a name as it is stored.
     *
     * @throws Problem if it is too long with the prefix
     */
    public String stored(String field, String name) {
        String full = prefix == null ? name : prefix + name;
        try {
            return JobSpec.requireName(field, full);
        } catch (IllegalArgumentException e) {
            throw Problem.invalid(field, "must be shorter: with the tenant's name it may have 100 characters");
        }
    }

    /** Returns how many characters a name may have without the prefix. */
    public int room() {
        return JobSpec.MAX_NAME - (prefix == null ? 0 : prefix.length());
    }

    public @Nullable String storedOrNull(String field, @Nullable String name) {
        return name == null ? null : stored(field, name);
    }

    /** Returns a key of a job as it is stored. It may be any text. */
    public @Nullable String storedKey(String field, @Nullable String key) {
        if (key == null || prefix == null) {
            return key;
        }
        if (prefix.length() + key.length() > JobSpec.MAX_KEY) {
            throw Problem.invalid(field, "must have at most " + (JobSpec.MAX_KEY - prefix.length()) + " characters");
        }
        return prefix + key;
    }

    public boolean owns(@Nullable String stored) {
        return prefix == null || (stored != null && stored.startsWith(prefix));
    }

    /** Returns a stored name as the caller knows it. */
    public String shown(String stored) {
        return prefix != null && stored.startsWith(prefix) ? stored.substring(prefix.length()) : stored;
    }

    /** Returns a sentence with the names in it as the caller knows them: without the prefix where a word begins with it. */
    public String shownIn(String text) {
        if (prefix == null || !text.contains(prefix)) {
            return text;
        }
        StringBuilder shown = new StringBuilder();
        int from = 0;
        for (int at = text.indexOf(prefix); at >= 0; at = text.indexOf(prefix, at + 1)) {
            if (at < from || (at > 0 && isPartOfName(text.charAt(at - 1)))) {
                continue;
            }
            shown.append(text, from, at);
            from = at + prefix.length();
        }
        return shown.append(text, from, text.length()).toString();
    }

    private static boolean isPartOfName(char c) {
        return Character.isLetterOrDigit(c) || "_-./".indexOf(c) >= 0;
    }

    public @Nullable String shownOrNull(@Nullable String stored) {
        return stored == null ? null : shown(stored);
    }
}
