// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.auth;

import io.reprise.insight.LogLine;
import io.reprise.job.AuditNote;
import io.reprise.job.JobSpec;
import io.reprise.job.JobState;
import io.reprise.job.QueueState;
import io.reprise.server.http.Caller;
import io.reprise.server.http.Fields;
import io.reprise.server.http.Json;
import io.reprise.server.http.Problem;
import io.reprise.server.http.ProblemType;
import io.reprise.store.Document;
import io.reprise.store.JobStore;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Limits what each tenant may store, and how fast it may add jobs. Callers without a tenant belong to the operator and
 * have no quota. Use is read from the store every few seconds. Until it reads again, a server does not see what others
 * admitted: each admits at most the room that it saw. Thread-safe.
 */
public final class Quotas {

    private static final Logger log = LoggerFactory.getLogger("io.reprise.server");
    private static final String KIND = "quota";
    private static final Duration KNOWN_FOR = Duration.ofSeconds(5);
    private static final Duration COUNTED_FOR = Duration.ofSeconds(2);
    private static final Duration LONGEST_COUNTED_FOR = Duration.ofSeconds(30);
    private static final int REST_PER_COUNT = 10;
    private static final int MAX_KNOWN = 10_000;
    private static final long PATIENCE_SECONDS = 30;
    private static final int ADDING = 256;

    /**
     * The limits of a tenant.
     *
     * @param jobs waiting jobs
     * @param bytes payloads, steps, results and log lines of all its jobs, the finished ones too
     * @param jobsPerSecond jobs enqueued per second, twice as many at once
     * @param bytesPerSecond bytes of payloads and steps stored per second, twice as many at once
     */
    public record Limits(
            int jobs,
            long bytes,
            int queues,
            int schedules,
            int webhooks,
            int streams,
            int jobsPerSecond,
            int bytesPerSecond) {

        public static final Limits DEFAULT =
                new Limits(1_000_000, 10_000_000_000L, 1_000, 1_000, 100, 50, 5_000, 20_000_000);

        /** Returns these limits with those of the fields in place. */
        Limits with(Fields fields) {
            return new Limits(
                    fields.integer("jobs", jobs),
                    fields.large("bytes", bytes),
                    fields.integer("queues", queues),
                    fields.integer("schedules", schedules),
                    fields.integer("webhooks", webhooks),
                    fields.integer("streams", streams),
                    fields.integer("jobsPerSecond", jobsPerSecond),
                    fields.integer("bytesPerSecond", bytesPerSecond));
        }

        public Map<String, Object> view() {
            Map<String, Object> view = new LinkedHashMap<>();
            view.put("jobs", jobs);
            view.put("bytes", bytes);
            view.put("queues", queues);
            view.put("schedules", schedules);
            view.put("webhooks", webhooks);
            view.put("streams", streams);
            view.put("jobsPerSecond", jobsPerSecond);
            view.put("bytesPerSecond", bytesPerSecond);
            return view;
        }
    }

    /** The use of a tenant: waiting jobs, bytes stored, and the names of its queues. */
    public record Use(long jobs, long bytes, Set<String> queues) {

        private static final Use NOTHING = new Use(0, 0, Set.of());

        public Use {
            queues = Set.copyOf(queues);
        }

        private Use plus(Use more) {
            if (queues.containsAll(more.queues)) {
                return new Use(jobs + more.jobs, bytes + more.bytes, queues);
            }
            Set<String> all = new HashSet<>(queues);
            all.addAll(more.queues);
            return new Use(jobs + more.jobs, bytes + more.bytes, all);
        }
    }

    private record Known(Limits limits, Instant until) {}

    /**
     * The use of all tenants at a moment.
     *
     * @param number grows with each count
     * @param unfinished tenants that have more jobs than were counted
     * @param exact how many jobs these have, as far as somebody asked
     * @param until when it is known well enough
     */
    private record Count(
            long number,
            Map<String, Use> byTenant,
            Set<String> unfinished,
            ConcurrentMap<String, Long> exact,
            Instant until) {}

    private final JobStore store;
    private final Limits otherwise;
    private final InstantSource clock;
    private final Map<String, Known> known = new ConcurrentHashMap<>();
    private final Buckets jobs = new Buckets(1, 1);
    private final Buckets bytes = new Buckets(1, 1);
    private final Buckets told = new Buckets(1 / 60.0, 1);
    private final TenantBytes stored;
    private volatile Count count = new Count(0, Map.of(), Set.of(), new ConcurrentHashMap<>(), Instant.MIN);
    private final ReentrantLock counting = new ReentrantLock();

    /** Tenants share locks by chance. They are fair, so that one with many requests passes nobody. */
    private final List<ReentrantLock> adding =
            Stream.generate(() -> new ReentrantLock(true)).limit(ADDING).toList();

    /** Jobs and queues that were let pass since the last count began, and before, by tenant. */
    private Map<String, Use> since = new HashMap<>();

    private Map<String, Use> before = new HashMap<>();

    /**
     * Creates quotas on a store.
     *
     * @param otherwise limits of tenants without their own
     */
    public Quotas(JobStore store, Limits otherwise, InstantSource clock) {
        this.store = store;
        this.otherwise = otherwise;
        this.clock = clock;
        this.stored = new TenantBytes(store);
    }

    /** Measures how many bytes tenants have stored. This takes long if there are many jobs. */
    public void measure() {
        if (!count().byTenant.isEmpty()) {
            stored.measure();
        }
    }

    /** Returns the limits of a tenant. */
    public Limits of(String tenant) {
        Instant now = clock.instant();
        Known cached = known.get(tenant);
        if (cached != null && now.isBefore(cached.until)) {
            return cached.limits;
        }
        Limits limits = document(tenant)
                .map(document -> otherwise.with(new Fields(Json.parse(document.json()))))
                .orElse(otherwise);
        if (known.size() >= MAX_KNOWN) {
            known.clear();
        }
        known.put(tenant, new Known(limits, now.plus(KNOWN_FOR)));
        return limits;
    }

    /** Gives a tenant its own limits. Limits that the fields leave out are the default. */
    public Limits put(String tenant, Fields fields, AuditNote note) {
        Limits limits = otherwise.with(fields);
        Map<String, Object> own = new LinkedHashMap<>(limits.view());
        own.keySet().removeIf(name -> !fields.has(name));
        Document before = document(tenant).orElse(new Document(KIND, tenant, 0, "{}"));
        if (store.putDocument(
                        before.with(Json.text(own)),
                        "put-quota",
                        note.changing(Json.change(Json.parse(before.json()), own)))
                .isEmpty()) {
            throw Problem.of(ProblemType.CONFLICT, "The quota was changed by another at the same time");
        }
        known.remove(tenant);
        return limits;
    }

    private Optional<Document> document(String tenant) {
        return store.document(KIND, tenant);
    }

    /** Returns the use of this tenant, as of a moment ago. */
    public Use use(String tenant) {
        return withWhatPassed(tenant, counted(tenant, count()));
    }

    /** Returns the counts. Requests of one tenant do not wait until the jobs of another are counted. */
    private Use counted(String tenant, Count all) {
        Use counted = all.byTenant.getOrDefault(tenant, Use.NOTHING);
        if (!all.unfinished.contains(tenant)) {
            return counted;
        }
        // Up to its own limit: beyond that it does not matter.
        int most = of(tenant).jobs + 1;
        long jobs = all.exact.computeIfAbsent(tenant, name -> (long) store.live(name + Tenancy.END, most));
        return new Use(jobs, 0, counted.queues);
    }

    private synchronized Use withWhatPassed(String tenant, Use counted) {
        Use passed = since.getOrDefault(tenant, Use.NOTHING).plus(before.getOrDefault(tenant, Use.NOTHING));
        Use all = counted.plus(passed);
        return new Use(all.jobs, stored.of(tenant), all.queues);
    }

    /**
     * Admits jobs that a caller wants to enqueue.
     *
     * @param queues stored names of the queues of these jobs
     * @param size characters of their payloads
     * @throws Problem if there are too many jobs, or they come too fast
     */
    public void enqueue(Caller caller, Set<String> queues, int number, long size) {
        String tenant = caller.tenant();
        if (tenant != null) {
            enqueue(tenant, queues, number, size);
        }
    }

    /**
     * Whether a schedule may enqueue its job. If not, the log says why, once a minute for a tenant.
     *
     * @param tenant whose queue it is
     */
    public boolean mayFire(String tenant, JobSpec job) {
        try {
            enqueue(tenant, Set.of(job.queue()), 1, job.payload().length());
            return true;
        } catch (Problem e) {
            if (told.take(tenant, clock.instant())) {
                log.warn("Schedules of tenant {} skip firings: {}", tenant, e.getMessage());
            }
            return false;
        }
    }

    private void enqueue(String tenant, Set<String> queues, int number, long size) {
        Limits limits = of(tenant);
        admit(tenant, use -> {
            requireRoom(use, queues, number, size, limits);
            requirePace(tenant, number, size, limits);
            stored.add(tenant, size);
            return new Use(number, 0, queues);
        });
    }

    /**
     * Admits jobs and queues in one step, so that others cannot take the same room.
     *
     * @param check returns what to count as used, or throws a {@link Problem}
     */
    private void admit(String tenant, UnaryOperator<Use> check) {
        boolean passed = false;
        while (!passed) {
            Count all = count();
            Use counted = counted(tenant, all);
            synchronized (this) {
                // What passed before a count is in it, and nowhere else.
                if (all.number == count.number) {
                    since.merge(tenant, check.apply(withWhatPassed(tenant, counted)), Use::plus);
                    passed = true;
                }
            }
        }
    }

    /**
     * Admits what a caller wants to store with a job that exists, such as the result of a step.
     *
     * @throws Problem if the tenant has stored too much, or it comes too fast
     */
    public void keep(Caller caller, @Nullable String text) {
        keep(caller, text, 1);
    }

    /** Admits a text that is stored many times. */
    public void keep(Caller caller, @Nullable String text, long times) {
        String tenant = caller.tenant();
        if (tenant == null || text == null || text.isEmpty()) {
            return;
        }
        long size = text.getBytes(StandardCharsets.UTF_8).length * times;
        Limits limits = of(tenant);
        synchronized (this) {
            requireRoom(stored.of(tenant), size, limits);
            requirePace(tenant, 0, size, limits);
            stored.add(tenant, size);
        }
    }

    /**
     * Whether log lines of a run are kept. A run must not fail because of its lines, so they are left out if the tenant has
     * stored too much. What is kept counts at once.
     */
    public boolean keepsLines(Caller caller, List<String> lines) {
        String tenant = caller.tenant();
        if (tenant == null) {
            return true;
        }
        long size = lines.stream()
                .mapToLong(line -> Math.min(line.length(), LogLine.MAX_LENGTH))
                .sum();
        size = Math.min(size, LogLine.MAX_CHARS);
        Limits limits = of(tenant);
        synchronized (this) {
            if (stored.of(tenant) + size > limits.bytes) {
                return false;
            }
            stored.add(tenant, size);
            return true;
        }
    }

    private static void requireRoom(long there, long size, Limits limits) {
        if (there + size > limits.bytes) {
            throw exceeded(
                    "There are " + there + " bytes stored, and there may be " + limits.bytes,
                    "discard dead letters, wait until finished jobs are deleted, or send smaller payloads");
        }
    }

    private static void requireRoom(Use use, Set<String> queues, int number, long size, Limits limits) {
        if (use.jobs + number > limits.jobs) {
            throw exceeded(
                    "There are " + use.jobs + " jobs waiting, and there may be " + limits.jobs,
                    "let workers catch up, cancel some, or enqueue fewer");
        }
        requireRoom(use.bytes, size, limits);
        requireRoom(use, queues, limits);
    }

    /** Lets a name of a queue pass, as it is stored. @throws Problem if there are as many as there may be */
    public void queue(Caller caller, String queue) {
        String tenant = caller.tenant();
        if (tenant != null) {
            Limits limits = of(tenant);
            admit(tenant, use -> {
                requireRoom(use, Set.of(queue), limits);
                return new Use(0, 0, Set.of(queue));
            });
        }
    }

    private static void requireRoom(Use use, Set<String> queues, Limits limits) {
        Set<String> all = new HashSet<>(use.queues);
        all.addAll(queues);
        if (all.size() > use.queues.size() && all.size() > limits.queues) {
            throw exceeded(
                    "There are " + use.queues.size() + " queues, and there may be " + limits.queues,
                    "use one that there is");
        }
    }

    private synchronized void requirePace(String tenant, int number, long size, Limits limits) {
        Instant now = clock.instant();
        Duration wait = number == 0 ? Duration.ZERO : jobs.untilOne(tenant, now, limits.jobsPerSecond);
        Duration rest = bytes.untilOne(tenant, now, limits.bytesPerSecond);
        if (!wait.isZero()) {
            throw tooFast("More than " + limits.jobsPerSecond + " jobs per second", wait);
        }
        if (!rest.isZero()) {
            throw tooFast("More than " + limits.bytesPerSecond + " bytes of payloads per second", rest);
        }
        jobs.take(tenant, now, number, limits.jobsPerSecond);
        bytes.take(tenant, now, (double) size, limits.bytesPerSecond);
    }

    /**
     * Does what checks how many things a tenant has, and adds one. The requests of one tenant do so one after another, so no
     * other takes the room between the check and the addition.
     */
    public <T> T oneByOne(@Nullable String tenant, Supplier<T> checkAndAdd) {
        if (tenant == null) {
            return checkAndAdd.get();
        }
        ReentrantLock turn = adding.get(Math.floorMod(tenant.hashCode(), adding.size()));
        turn.lock();
        try {
            return checkAndAdd.get();
        } finally {
            turn.unlock();
        }
    }

    /**
     * Admits one more of something. Call it within {@link #oneByOne}.
     *
     * @param there how many exist
     * @param most how many may exist
     * @param things the name of the things
     */
    public static void requireRoom(long there, int most, String things, String whatToDo) {
        if (there >= most) {
            throw exceeded("There are " + there + " " + things + ", and there may be " + most, whatToDo);
        }
    }

    /**
     * Returns how long a count that took this long is used. The result is limited, because the
     * process may have stood still.
     */
    private static Duration counted(Duration took) {
        Duration rest = took.multipliedBy(REST_PER_COUNT);
        if (rest.compareTo(COUNTED_FOR) < 0) {
            return COUNTED_FOR;
        }
        return rest.compareTo(LONGEST_COUNTED_FOR) < 0 ? rest : LONGEST_COUNTED_FOR;
    }

    /** Counting again takes no more than a part of the time, however long it takes, and nobody waits for it but who counts. */
    private Count count() {
        Count last = count;
        Instant now = clock.instant();
        if (now.isBefore(last.until)) {
            return last;
        }
        boolean first = last.until.equals(Instant.MIN);
        if (first) {
            counting.lock();
        } else if (!counting.tryLock()) {
            return last;
        }
        try {
            // Another may have counted meanwhile.
            return count.number == last.number ? countNow(now) : count;
        } finally {
            counting.unlock();
        }
    }

    private Count countNow(Instant now) {
        begin();
        Map<String, Use> byTenant = new HashMap<>();
        Set<String> unfinished = new HashSet<>();
        for (QueueState queue : store.queues()) {
            String tenant = Tenancy.tenant(queue.name());
            if (tenant != null) {
                byTenant.merge(tenant, new Use(queue.count(JobState.PENDING), 0, Set.of(queue.name())), Use::plus);
                if (queue.atLeast().contains(JobState.PENDING)) {
                    unfinished.add(tenant);
                }
            }
        }
        Instant until = now.plus(counted(Duration.between(now, clock.instant())));
        Count next = new Count(count.number + 1, byTenant, unfinished, new ConcurrentHashMap<>(), until);
        end(next);
        return next;
    }

    /** If the count before failed, what was let pass before it is still not in it. */
    private synchronized void begin() {
        since.forEach((tenant, use) -> before.merge(tenant, use, Use::plus));
        since = new HashMap<>();
    }

    private synchronized void end(Count next) {
        count = next;
        before = new HashMap<>();
    }

    private static Problem exceeded(String what, String whatToDo) {
        return Problem.of(
                        ProblemType.QUOTA_EXCEEDED,
                        what + " of this tenant: " + whatToDo + ", or ask the operator for a larger quota")
                .header("Retry-After", Long.toString(PATIENCE_SECONDS));
    }

    private static Problem tooFast(String what, Duration wait) {
        long seconds = Math.max(1, wait.plusMillis(999).toSeconds());
        return Problem.of(
                        ProblemType.TOO_MANY_REQUESTS,
                        what + " of this tenant: try again in " + seconds + " s, and send fewer at once")
                .header("Retry-After", Long.toString(seconds));
    }
}
