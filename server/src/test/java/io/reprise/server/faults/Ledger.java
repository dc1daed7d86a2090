// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.faults;

import io.reprise.job.Job;
import io.reprise.job.JobState;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** What clients were told, to be held against what is stored in the end. Thread-safe. */
final class Ledger {

    private static final int MAX_VIOLATIONS = 20;

    private final Map<String, String> enqueued = new ConcurrentHashMap<>();
    private final Map<String, Set<Long>> completed = new ConcurrentHashMap<>();
    private final Set<String> cancelled = ConcurrentHashMap.newKeySet();
    private final Map<String, Set<String>> delivered = new ConcurrentHashMap<>();
    private final ConcurrentLinkedQueue<String> violations = new ConcurrentLinkedQueue<>();
    final AtomicInteger answers = new AtomicInteger();
    final AtomicInteger lostAnswers = new AtomicInteger();
    final AtomicInteger unavailable = new AtomicInteger();
    final AtomicInteger stale = new AtomicInteger();

    void violated(String what) {
        if (violations.size() < MAX_VIOLATIONS) {
            violations.add(what);
        }
    }

    /** A job was acknowledged under an idempotency key. */
    void enqueued(String key, String job) {
        String before = enqueued.putIfAbsent(key, job);
        if (before != null && !before.equals(job)) {
            violated("the key " + key + " led to the jobs " + before + " and " + job);
        }
    }

    /** A success was accepted under a fencing token. */
    void completed(String job, long fence) {
        Set<Long> fences = completed.computeIfAbsent(job, id -> ConcurrentHashMap.newKeySet());
        fences.add(fence);
        if (fences.size() > 1) {
            violated("job " + job + " was accepted as completed under the fences " + fences);
        }
    }

    void cancelled(String job) {
        cancelled.add(job);
    }

    /** A receiver was told that a job succeeded. */
    void delivered(String job, String message) {
        delivered.computeIfAbsent(job, id -> ConcurrentHashMap.newKeySet()).add(message);
    }

    boolean isDelivered(String job) {
        return delivered.containsKey(job);
    }

    Set<String> jobs() {
        return new HashSet<>(enqueued.values());
    }

    Set<String> completedJobs() {
        return completed.keySet();
    }

    int accepted() {
        return completed.size();
    }

    int deliveries() {
        return delivered.size();
    }

    /** What is wrong, after everything has drained. */
    public List<String> check(Function<String, @Nullable Job> find) {
        if (jobs().size() != enqueued.size()) {
            violated(enqueued.size() + " keys led to " + jobs().size() + " jobs");
        }
        for (String id : jobs()) {
            Job job = find.apply(id);
            if (job == null) {
                violated("job " + id + " was acknowledged and is lost");
            } else {
                check(id, job);
            }
        }
        return new ArrayList<>(violations);
    }

    private void check(String id, Job job) {
        if (!job.state().isTerminal()) {
            violated("job " + id + " did not end: " + job.state());
        }
        if (completed.containsKey(id) && job.state() != JobState.SUCCEEDED) {
            violated("job " + id + " was accepted as completed and is " + job.state());
        }
        if (cancelled.contains(id) && job.state() != JobState.CANCELLED) {
            violated("job " + id + " was acknowledged as cancelled and is " + job.state());
        }
        int messages = delivered.getOrDefault(id, Set.of()).size();
        if (job.state() == JobState.SUCCEEDED && messages != 1) {
            violated("of the success of job " + id + " " + messages + " different messages were told");
        }
    }
}
