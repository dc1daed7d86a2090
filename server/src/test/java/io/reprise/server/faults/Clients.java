// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.faults;

import java.util.List;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import tools.jackson.databind.JsonNode;

/** Producers, remote workers and an operator, each a thread, until they are told to stop. What they must finish they finish. */
final class Clients {

    static final List<String> QUEUES = List.of("q0", "q1", "q2");
    private static final int ARRAY = 5;

    private final Caller caller;
    private final Ledger ledger;
    private final AtomicBoolean producing = new AtomicBoolean(true);
    private final AtomicBoolean working = new AtomicBoolean(true);
    private final ConcurrentLinkedQueue<String> toCancel = new ConcurrentLinkedQueue<>();
    private final List<Thread> producers;
    private final List<Thread> others;

    Clients(Caller caller, Ledger ledger) {
        this.caller = caller;
        this.ledger = ledger;
        this.producers = List.of(thread("producer", 1, this::produce), thread("producer", 2, this::produce));
        this.others = List.of(
                thread("worker", 1, this::work),
                thread("worker", 2, this::work),
                thread("worker", 3, this::work),
                thread("operator", 1, this::operate));
    }

    private interface Part {
        void play(int number, Random random);
    }

    private Thread thread(String name, int number, Part part) {
        return new Thread(
                () -> {
                    try {
                        part.play(number, new Random(number));
                    } catch (RuntimeException e) {
                        ledger.violated(name + " " + number + " broke: " + e);
                    }
                },
                name + "-" + number);
    }

    void start() {
        producers.forEach(Thread::start);
        others.forEach(Thread::start);
    }

    /** Returns when every job that was begun to be enqueued is acknowledged. */
    void endProduction() throws InterruptedException {
        producing.set(false);
        for (Thread producer : producers) {
            producer.join(TimeUnit.MINUTES.toMillis(3));
            if (producer.isAlive()) {
                ledger.violated(producer.getName() + " gets no answer");
            }
        }
    }

    void end() throws InterruptedException {
        producing.set(false);
        working.set(false);
        for (Thread other : others) {
            other.join(TimeUnit.SECONDS.toMillis(60));
            other.interrupt();
        }
        producers.forEach(Thread::interrupt);
    }

    private void produce(int number, Random random) {
        for (int i = 0; producing.get(); i++) {
            String key = "producer-" + number + "-" + i;
            if (i % 10 == 9) {
                produceArray(key, random);
            } else if (i % 25 == 3) {
                enqueue(key, "{\"type\":\"work\",\"queue\":\"later\",\"delay\":\"1d\"}", random);
            } else {
                enqueue(key, job(random), random);
            }
            pause(random, 60);
        }
    }

    /** Of twenty jobs one fails for good, some fail once, some are snoozed once, and the others succeed. */
    private static String job(Random random) {
        String queue = QUEUES.get(random.nextInt(QUEUES.size()));
        return "{\"type\":\"work\",\"queue\":\"" + queue + "\",\"payload\":" + random.nextInt(20) + "}";
    }

    private void enqueue(String key, String job, Random random) {
        Caller.Answer answer = caller.insist(random.nextInt(2), "POST", "/v1/jobs", job, key);
        if (answer == null) {
            return;
        }
        if (answer.status() > 299 || answer.json() == null) {
            ledger.violated("enqueue was answered " + answer);
            return;
        }
        String id = answer.json().get("id").stringValue();
        ledger.enqueued(key, id);
        if (job.contains("later")) {
            toCancel.add(id);
        }
    }

    private void produceArray(String key, Random random) {
        StringBuilder jobs = new StringBuilder("[").append(job(random));
        for (int i = 1; i < ARRAY; i++) {
            jobs.append(",").append(job(random));
        }
        Caller.Answer answer = caller.insist(
                random.nextInt(2), "POST", "/v1/jobs", jobs.append("]").toString(), key);
        if (answer == null) {
            return;
        }
        if (answer.status() > 299 || answer.json() == null || answer.json().size() != ARRAY) {
            ledger.violated("an array was answered " + answer);
            return;
        }
        for (int i = 0; i < ARRAY; i++) {
            ledger.enqueued(key + "/" + i, answer.json().get(i).get("id").stringValue());
        }
    }

    private void work(int number, Random random) {
        String leaseRequest = "{\"worker\":\"w" + number
                + "\",\"queues\":[\"q0\",\"q1\",\"q2\"],\"max\":5,\"wait\":\"2s\",\"lease\":\"5s\"}";
        while (working.get()) {
            Caller.Answer answer = caller.once(random.nextInt(2), "POST", "/v1/leases", leaseRequest, null);
            if (answer == null || answer.status() != 200 || answer.json() == null) {
                pause(random, 200);
                continue;
            }
            answer.json().get("items").forEach(lease -> run(lease, random));
        }
    }

    /** One run in fifty is forgotten, as by a worker that dies. */
    private void run(JsonNode lease, Random random) {
        if (random.nextInt(50) == 0) {
            return;
        }
        JsonNode job = lease.get("job");
        int kind = job.get("payload").isInt() ? job.get("payload").intValue() : 10;
        boolean first = job.get("attempts").intValue() == 0;
        if (kind == 0) {
            report(lease, "fail", "{\"type\":\"Broken\",\"message\":\"for good\",\"permanent\":true}", random);
        } else if (kind == 1 && first) {
            report(lease, "fail", "{\"type\":\"Busy\",\"message\":\"try again\",\"retryAfter\":\"1s\"}", random);
        } else if (kind == 2 && job.get("snoozes").intValue() == 0) {
            report(lease, "snooze", "{\"delay\":\"1s\"}", random);
        } else {
            if (kind == 3) {
                report(lease, "heartbeat", "{\"lease\":\"5s\",\"progress\":{\"percent\":50}}", random);
            }
            if (report(lease, "complete", "{\"result\":" + kind + "}", random) == 200) {
                ledger.completed(job.get("id").stringValue(), lease.get("fence").longValue());
            }
        }
    }

    private int report(JsonNode lease, String how, String body, Random random) {
        String path = "/v1/leases/" + lease.get("token").stringValue() + "/" + how;
        Caller.Answer answer = caller.insist(random.nextInt(2), "POST", path, body, null);
        if (answer == null) {
            return 0;
        }
        if (answer.status() == 409) {
            ledger.stale.incrementAndGet();
        } else if (answer.status() != 200) {
            ledger.violated(how + " was answered " + answer);
        }
        return answer.status();
    }

    private void operate(int number, Random random) {
        List<String> looks = List.of(
                "/v1/stats",
                "/v1/jobs?limit=20",
                "/v1/queues",
                "/v1/dead-letters",
                "/v1/audit",
                "/v1/workers",
                "/v1/resources",
                "/v1/schedules",
                "/v1/webhooks",
                "/healthz",
                "/readyz",
                "/metrics");
        while (working.get()) {
            caller.once(random.nextInt(2), "GET", looks.get(random.nextInt(looks.size())), null, null);
            if (random.nextInt(10) == 0) {
                caller.insist(random.nextInt(2), "POST", "/v1/queues/q2/pause", "{\"why\":\"a look\"}", null);
                pause(random, 500);
                caller.insist(random.nextInt(2), "POST", "/v1/queues/q2/resume", "{}", null);
            }
            cancelAll(random);
            pause(random, 300);
        }
        cancelAll(random);
    }

    private void cancelAll(Random random) {
        for (String id = toCancel.poll(); id != null; id = toCancel.poll()) {
            Caller.Answer answer = caller.insist(
                    random.nextInt(2), "POST", "/v1/jobs/" + id + "/cancel", "{\"why\":\"no more\"}", null);
            // Whose answer was lost has cancelled it already.
            if (answer != null && answer.status() == 200) {
                ledger.cancelled(id);
            }
        }
    }

    private static void pause(Random random, int millis) {
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1 + random.nextInt(millis)));
    }
}
