// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.webhook;

import io.reprise.job.Job;
import io.reprise.job.JobSpec;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A subscription to events. It is stored as a document with these names as JSON members.
 *
 * @param tenant its tenant; null for a subscription to the events of all jobs
 * @param secrets secrets that sign deliveries, the newest first
 * @param disabled why nothing is sent; null if it is enabled
 * @param retry JSON of a retry policy for its deliveries; null for that of all
 * @param batch how many events go into one call; null for one
 */
record Subscription(
        String id,
        @Nullable String tenant,
        String url,
        @Nullable String description,
        Filter filter,
        Map<String, String> headers,
        List<Secret> secrets,
        @Nullable String disabled,
        Instant createdAt,
        @Nullable String retry,
        @Nullable Batch batch) {

    /** How many secrets sign at once at most. */
    private static final int MAX_SECRETS = 3;

    /**
     * Chooses the events; an empty set means all.
     *
     * @param queues stored names, like the types and tags
     */
    record Filter(Set<String> events, Set<String> queues, Set<String> types, Set<String> tags) {
        Filter {
            events = Set.copyOf(events);
            queues = Set.copyOf(queues);
            types = Set.copyOf(types);
            tags = Set.copyOf(tags);
        }

        private static boolean matches(Set<String> wanted, String value) {
            return wanted.isEmpty() || wanted.contains(value);
        }

        boolean matches(EventType event, Job job) {
            return matches(events, event.text())
                    && matches(queues, job.queue())
                    && matches(types, job.type())
                    && (tags.isEmpty() || job.spec().tags().stream().anyMatch(tags::contains));
        }
    }

    /**
     * When the events that wait are sent in one call.
     *
     * @param count as soon as there are so many
     * @param within as soon as the first has waited so long
     */
    record Batch(int count, Duration within) {}

    /**
     * A signing secret.
     *
     * @param kept its stored form, encrypted if the server has keys
     * @param until when it stops signing; null for the current one
     */
    record Secret(String kept, @Nullable Instant until) {}

    Subscription {
        headers = Map.copyOf(headers);
        secrets = List.copyOf(secrets);
    }

    /** Whether the subscriber wants alerts about a type. They are about the whole fleet, so no tenant gets them. */
    boolean wantsAlert(String type) {
        return tenant == null && names(EventType.ALERT) && Filter.matches(filter.types, type);
    }

    /** Whether the subscriber asked for this event by its name. */
    boolean names(EventType event) {
        return disabled == null && filter.events.contains(event.text());
    }

    boolean wants(EventType event, Job job) {
        return disabled == null && covers(job.queue()) && filter.matches(event, job);
    }

    /** Whether the subscriber may receive events of this queue. */
    boolean covers(String queue) {
        return tenant == null || queue.startsWith(tenant + "/");
    }

    /** Returns a name of the tenant as it is stored. */
    String stored(String name) {
        return tenant == null ? name : tenant + "/" + name;
    }

    /** Returns how many characters a name of the tenant may have. */
    int room() {
        return JobSpec.MAX_NAME - (tenant == null ? 0 : tenant.length() + 1);
    }

    /** Returns a stored name as the subscriber knows it. */
    @Nullable
    String shown(@Nullable String stored) {
        String prefix = tenant + "/";
        return stored != null && tenant != null && stored.startsWith(prefix)
                ? stored.substring(prefix.length())
                : stored;
    }

    /** Returns the secrets that sign now. */
    List<String> signing(Instant now) {
        return secrets.stream()
                .filter(secret -> secret.until() == null || secret.until().isAfter(now))
                .map(Secret::kept)
                .toList();
    }

    /** Adds a new secret. The older ones also sign until then. */
    Subscription rotated(String kept, Instant now, Instant until) {
        List<Secret> rotated = new ArrayList<>(List.of(new Secret(kept, null)));
        for (Secret old : secrets) {
            Instant end = old.until() == null || old.until().isAfter(until) ? until : old.until();
            if (end.isAfter(now) && rotated.size() < MAX_SECRETS) {
                rotated.add(new Secret(old.kept(), end));
            }
        }
        return new Subscription(
                id, tenant, url, description, filter, headers, rotated, disabled, createdAt, retry, batch);
    }

    Subscription disabled(@Nullable String why) {
        return new Subscription(id, tenant, url, description, filter, headers, secrets, why, createdAt, retry, batch);
    }
}
