// SPDX-License-Identifier: Apache-2.0
package io.reprise.settings;

import io.reprise.job.AuditNote;
import io.reprise.retry.RetryPolicy;
import io.reprise.store.Document;
import io.reprise.store.DocumentStore;
import io.reprise.text.JsonReader;
import io.reprise.text.JsonText;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * The place of {@link FleetSettings} in the store. A change compares versions and is written to the audit log.
 * Thread-safe.
 *
 * <p>A policy that is stored must not name a number above a ceiling that is stored. This holds for the policies in the
 * settings, and for the named policies of a server unless they are a tenant's. A change that would make such a
 * contradiction is refused. One that is there already does not hinder other changes. Policies of code, flags and files
 * are not known here: workers warn of them, and the ceiling applies.
 *
 * @since 0.1.0
 */
public final class SettingsBook {

    private static final String KIND = "settings";
    private static final String ID = "fleet";

    private static final String POLICY = "policy";

    /** Contradictions that one message names at most. */
    private static final int SHOWN = 5;

    private final DocumentStore store;

    /** Creates it on a prepared store. */
    public SettingsBook(DocumentStore store) {
        this.store = store;
    }

    /**
     * Settings as they were read.
     *
     * @param version their version; 0 if nothing is stored
     * @param settings the settings; {@link FleetSettings#NONE} if nothing is stored
     */
    public record Page(long version, FleetSettings settings) {}

    /**
     * Reads the settings.
     *
     * @throws IllegalArgumentException if a newer version of Reprise wrote settings that this one does not know
     */
    public Page read() {
        return store.document(KIND, ID)
                .map(document -> new Page(document.version(), FleetSettings.fromJson(document.json())))
                .orElse(new Page(0, FleetSettings.NONE));
    }

    /** Returns the version that is stored; 0 if nothing is stored. */
    public long version() {
        return store.document(KIND, ID).map(Document::version).orElse(0L);
    }

    /**
     * Replaces the settings if nobody changed them since they were read, and writes the audit log in the same step.
     *
     * @param before what was read
     * @param note who changes them, and why
     * @return the new version; empty if another caller changed them first
     * @throws IllegalArgumentException if their JSON is larger than a document may be, or a ceiling is below a stored
     *     policy; the message names the policy, its field, its value and the ceiling
     */
    public OptionalLong replace(Page before, FleetSettings settings, AuditNote note) {
        requireWithin(before.settings, settings);
        return store.putDocument(new Document(KIND, ID, before.version, settings.toJson()), "put-settings", note);
    }

    private void requireWithin(FleetSettings before, FleetSettings settings) {
        if (settings.hasCeilings()) {
            Map<String, RetryPolicy> named = named("policy");
            refuse(CeilingLint.contradictions(settings, named), CeilingLint.contradictions(before, named));
        }
    }

    /**
     * Checks a policy that is to be stored.
     *
     * @param what its name in the message, such as {@code policy 'gold'}
     * @throws IllegalArgumentException if it names a number above a stored ceiling; the message names the field, its
     *     value and the ceiling
     */
    public void requireWithin(String what, RetryPolicy policy) {
        FleetSettings fleet = read().settings;
        refuse(CeilingLint.contradictions(fleet, Map.of(what, policy)), CeilingLint.contradictions(fleet, Map.of()));
    }

    private static void refuse(List<String> found, List<String> known) {
        List<String> fresh =
                found.stream().filter(each -> !known.contains(each)).toList();
        if (!fresh.isEmpty()) {
            int more = fresh.size() - SHOWN;
            throw new IllegalArgumentException(fresh.stream().limit(SHOWN).collect(Collectors.joining("; "))
                    + (more > 0 ? "; and " + more + " more" : "") + ": change the policy or the ceiling");
        }
    }

    /** Returns {@link FleetSettings#warnings} of what is stored. Policies of tenants are not among them. */
    public List<String> warnings() {
        return read().settings.warnings(named("name"));
    }

    /** Returns the named policies. A slash ends the name of a tenant, and no tenant must hinder an operator. */
    private Map<String, RetryPolicy> named(String word) {
        Map<String, RetryPolicy> all = new TreeMap<>();
        String after = null;
        do {
            io.reprise.job.Page<Document> page = store.documents(POLICY, DocumentStore.MAX_DOCUMENTS, after);
            page.items().stream()
                    .filter(each -> each.id().indexOf('/') < 0)
                    .forEach(each -> all.put(word + " '" + each.id() + "'", policy(each)));
            after = page.next();
        } while (after != null);
        return all;
    }

    /** A policy that a newer version wrote cannot be compared. */
    private static RetryPolicy policy(Document document) {
        try {
            return JsonReader.read(document.json()) instanceof Map<?, ?> members
                    ? RetryPolicy.fromJson(JsonText.write(members.get(POLICY)))
                    : RetryPolicy.unset();
        } catch (IllegalArgumentException e) {
            return RetryPolicy.unset();
        }
    }
}
