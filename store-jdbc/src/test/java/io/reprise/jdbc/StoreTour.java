// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import io.reprise.batch.Membership;
import io.reprise.fairness.FlowLimit;
import io.reprise.fairness.GroupRules;
import io.reprise.insight.Activity;
import io.reprise.insight.Alert;
import io.reprise.insight.ControlEvent;
import io.reprise.insight.CostEntry;
import io.reprise.insight.ErrorKey;
import io.reprise.insight.Evidence;
import io.reprise.insight.LogLine;
import io.reprise.job.AuditNote;
import io.reprise.job.Enqueued;
import io.reprise.job.Job;
import io.reprise.job.JobChange;
import io.reprise.job.JobId;
import io.reprise.job.JobQuery;
import io.reprise.job.JobSpec;
import io.reprise.job.JobState;
import io.reprise.job.KeyRule;
import io.reprise.job.Progress;
import io.reprise.job.StoredSchedule;
import io.reprise.job.WaitReason;
import io.reprise.job.WorkerReport;
import io.reprise.retry.FailReason;
import io.reprise.retry.RetryPolicy;
import io.reprise.step.Checkpoint;
import io.reprise.step.StepEdit;
import io.reprise.step.StepWrite;
import io.reprise.step.StoredStep;
import io.reprise.store.ActivityQuery;
import io.reprise.store.Claim;
import io.reprise.store.ClaimRequest;
import io.reprise.store.ControlRow;
import io.reprise.store.CountedAs;
import io.reprise.store.Document;
import io.reprise.store.DueQueues;
import io.reprise.store.Firing;
import io.reprise.store.JobStore;
import io.reprise.store.LogPart;
import io.reprise.store.Requeue;
import io.reprise.store.Settlement;
import io.reprise.store.Suspects;
import io.reprise.store.Unparking;
import io.reprise.store.WorkerCounts;
import io.reprise.testkit.fixture.TestClaims;
import io.reprise.testkit.fixture.TestJobs;
import io.reprise.testkit.fixture.TestSettlements;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Calls every method of a store, most of them in several ways, on whatever is in the database. {@link #missed} names methods
 * that it does not call, so that a test fails when the store has a new one.
 */
public final class StoreTour {

    private static final AuditNote NOTE = new AuditNote("ada", "tour");
    private static final Duration HOUR = Duration.ofHours(1);
    private static final String QUEUE = "default";
    private static final String PARKER = "breaker/provider-1";

    private final JobStore store;
    private final Set<String> called = new TreeSet<>();
    private int round;

    /** Calls methods of this store. Before each call {@code onCall} gets the name of the method. */
    public StoreTour(JobStore store, Consumer<String> onCall) {
        this.store = (JobStore) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {JobStore.class}, (proxy, method, args) -> {
                    called.add(signature(method));
                    onCall.accept(method.getName());
                    try {
                        return method.invoke(store, args);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    private static String signature(Method method) {
        return method.getName()
                + Arrays.stream(method.getParameterTypes())
                        .map(Class::getSimpleName)
                        .collect(Collectors.joining(", ", "(", ")"));
    }

    /** Methods of a store that were not called. */
    public Set<String> missed() {
        return Arrays.stream(JobStore.class.getMethods())
                .filter(method -> !Modifier.isStatic(method.getModifiers()))
                .filter(method -> !method.getName().equals("close"))
                .map(StoreTour::signature)
                .filter(name -> !called.contains(name))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    /** Calls them all. The caller's connection is rolled back. */
    public void run(Connection connection) throws SQLException {
        round++;
        Runnable listener = () -> {};
        store.onWake(listener);
        store.prepare();
        store.requirePrepared();
        store.now();
        enqueue(connection);
        lists();
        work();
        steps();
        followers();
        batches();
        leases();
        bulk();
        schedules();
        control();
        insight();
        documents();
        upkeep();
        store.wake();
        store.offWake(listener);
        store.poolSize(null);
    }

    private void enqueue(Connection connection) throws SQLException {
        store.insert(specs("plain", 1));
        store.insert(specs("plain", 1_200));
        store.insert(List.of(spec().key("key-" + round, KeyRule.KEEP).build()));
        store.insert(List.of(spec().key("key-" + round, KeyRule.REPLACE).build()));
        store.insert(IntStream.range(0, 1_200)
                .mapToObj(
                        n -> spec().key("key-" + round + "-" + n, KeyRule.KEEP).build())
                .toList());
        store.insert(IntStream.range(0, 1_200)
                .mapToObj(n -> spec().idempotencyKey("once-" + round + "-" + n).build())
                .toList());
        store.insert(List.of(spec().idempotencyKey("once-" + round + "-1").build()));
        store.findByIdempotencyKey("once-" + round + "-1");
        connection.setAutoCommit(false);
        store.within(JdbcTransaction.of(connection)).insert(specs("caller", 2));
        connection.rollback();
    }

    private void followers() {
        JobSpec spec = spec().queue("followed")
                .key("followed-" + round, KeyRule.FOLLOW)
                .build();
        store.insert(List.of(spec));
        ClaimRequest one =
                new ClaimRequest("tour", HOUR, 1, List.of(new ClaimRequest.Demand("followed", 1)), 0.2, true);
        Claim claim = store.claim(one).get(0);
        store.insert(List.of(spec));
        store.insert(List.of(spec));
        Job holder = claim.jobs().get(0);
        LogLine line = new LogLine(claim.token(), store.now(), "tour");
        store.writeLog(List.of(new LogPart(holder.id(), claim.token(), 0, List.of(line))));
        store.log(holder.id());
        store.log(holder.id(), claim.token());
        store.settle(List.of(TestSettlements.success(claim, holder)), List.of(claim.token()));
        store.letFollow(10);
        store.settle(store.claim(one).stream()
                .map(next -> TestSettlements.success(next, next.jobs().get(0)))
                .toList());
    }

    private void finishedBatch() {
        String batch = "finished-" + round;
        store.createBatch(batch, spec().queue("after").dueAt(JobSpec.MAX_DUE).build(), null);
        JobSpec member = spec().queue(batch).batch(batch).build();
        store.insert(List.of(member));
        store.closeBatch(batch);
        ClaimRequest request = new ClaimRequest("tour", HOUR, 1, List.of(new ClaimRequest.Demand(batch, 1)), 0.2, true);
        Claim claim = store.claim(request).get(0);
        store.settle(List.of(dead(claim, member)), List.of());
        store.finishBatch(batch, NOTE);
    }

    private static Settlement dead(Claim claim, JobSpec member) {
        return new Settlement(
                        claim.jobs().get(0).id(),
                        claim.token(),
                        CountedAs.ATTEMPT,
                        Duration.ZERO,
                        new Settlement.Fail(FailReason.PERMANENT),
                        null,
                        null)
                .with(new Settlement.FollowUps(List.of(), List.of(), Membership.in(member)));
    }

    private void batches() {
        finishedBatch();
        JobSpec after = spec().queue("after").dueAt(JobSpec.MAX_DUE).build();
        String batch = "tour-" + round;
        store.createBatch(batch, after, after);
        JobSpec member = spec().queue(batch).batch(batch).build();
        List<Enqueued> members = store.insert(List.of(member, member, member));
        ClaimRequest request = new ClaimRequest("tour", HOUR, 1, List.of(new ClaimRequest.Demand(batch, 1)), 0.2, true);
        Claim claim = store.claim(request).get(0);
        store.insert(List.of(member.toBuilder().sibling(true).build()));
        store.closeBatch(batch);
        store.settle(List.of(dead(claim, member)), List.of());
        store.requeue(
                claim.jobs().get(0).id(), new Requeue("retry", Duration.ZERO, null, false, 0, Requeue.Edit.NONE), NOTE);
        members.forEach(each -> store.cancel(each.id(), NOTE));
        store.batch(batch);
        store.batches("to", 10, null);
        store.batches("", 10, "a");
        JobId parent =
                store.insert(List.of(spec().queue("parent").build())).get(0).id();
        ClaimRequest one = new ClaimRequest("tour", HOUR, 1, List.of(new ClaimRequest.Demand("parent", 1)), 0.2, true);
        for (int run = 0; run < 2; run++) {
            Claim held = store.claim(one).get(0);
            List<JobSpec> children = run == 1
                    ? List.of()
                    : Membership.children(
                            parent,
                            "join",
                            held.token(),
                            List.of(spec().queue("child").build()));
            StepWrite step = StepWrite.join("join", StoredStep.State.OPEN, "1");
            store.settle(
                    List.of(new Settlement(
                                    parent,
                                    held.token(),
                                    CountedAs.SNOOZE,
                                    Duration.ZERO,
                                    new Settlement.Wait(WaitReason.BATCH, Duration.ZERO, null),
                                    null,
                                    null)
                            .with(run == 1 ? step.replacing() : step)
                            .with(new Settlement.FollowUps(children, List.of()))),
                    List.of());
            if (run == 0) {
                String name = Membership.join(parent, "join", held.token());
                ClaimRequest child =
                        new ClaimRequest("tour", HOUR, 1, List.of(new ClaimRequest.Demand("child", 1)), 0.2, true);
                Claim ending = store.claim(child).get(0);
                store.settle(
                        List.of(new Settlement(
                                        ending.jobs().get(0).id(),
                                        ending.token(),
                                        CountedAs.ATTEMPT,
                                        Duration.ZERO,
                                        new Settlement.Succeed("1"),
                                        null,
                                        null)
                                .with(new Settlement.FollowUps(List.of(), List.of(), Membership.in(children.get(0))))),
                        List.of());
                store.members(name, -1, 10);
            }
        }
        store.cancel(parent, NOTE);
        store.discard(parent, NOTE);
    }

    private void steps() {
        JobId id = store.insert(List.of(spec().queue("steps").build())).get(0).id();
        ClaimRequest request =
                new ClaimRequest("tour", HOUR, 1, List.of(new ClaimRequest.Demand("steps", 1)), 0.2, true);
        Claim claim = store.claim(request).get(0);
        store.checkpoint(List.of(new Checkpoint(id, claim.token(), StepWrite.started("one"))));
        store.checkpoint(List.of(
                new Checkpoint(
                        id,
                        claim.token(),
                        StepWrite.done("one", null, null).replacing().granting(1)),
                new Checkpoint(id, claim.token(), StepWrite.done("two", "text", "2"))));
        store.checkpoint(List.of(new Checkpoint(id, claim.token() - 1, StepWrite.done("stale", null, null))));
        Settlement wait = new Settlement(
                id,
                claim.token(),
                CountedAs.SNOOZE,
                Duration.ZERO,
                new Settlement.Wait(WaitReason.EVENT, HOUR, null),
                null,
                null);
        store.settle(List.of(wait.with(StepWrite.open("event", StoredStep.Kind.EVENT, HOUR))), List.of(claim.token()));
        store.tell(id, "event", "text", "1");
        store.tell(id, "early", "text", "1");
        store.steps(id);
        store.editSteps(id, new StepEdit.Forget("one"), NOTE);
        store.editSteps(id, new StepEdit.ForgetFrom("two"), NOTE);
        store.editSteps(id, new StepEdit.ForgetAll(), NOTE);
        store.cancel(id, NOTE);
    }

    private static JobSpec.Builder spec() {
        return JobSpec.builder("work", "{}");
    }

    private static List<JobSpec> specs(String tag, int number) {
        JobSpec spec = spec().tags(Set.of(tag))
                .policy(RetryPolicy.unset().deadline(Duration.ofDays(1)))
                .build();
        return IntStream.range(0, number).mapToObj(n -> spec).toList();
    }

    private void lists() {
        JobId some = insertOne();
        store.find(some);
        store.findAll(List.of(some, new JobId(1)));
        store.live(List.of(some));
        store.attempts(new JobId(1));
        store.failures(List.of(new JobId(1), new JobId(2)));
        Instant now = store.now();
        for (JobQuery query : List.of(
                JobQuery.all(),
                JobQuery.deadLetters(),
                JobQuery.all().state(JobState.PENDING),
                JobQuery.all().state(JobState.RUNNING),
                JobQuery.all().state(JobState.SUCCEEDED),
                JobQuery.all().state(JobState.CANCELLED),
                JobQuery.all().queue("none"),
                JobQuery.all().queuePrefix("none/"),
                JobQuery.all().type("none"),
                JobQuery.all().resource("none"),
                JobQuery.all().tag("none"),
                JobQuery.all().fingerprint("none"),
                JobQuery.all().schedule("none"),
                JobQuery.all().batch("none"),
                JobQuery.deadLetters().batch("none"),
                JobQuery.all().createdFrom(now.plus(HOUR)),
                JobQuery.all().createdBefore(Instant.EPOCH),
                JobQuery.deadLetters().queue(QUEUE).fingerprint("f1"))) {
            store.find(query.limit(50));
            store.find(query.limit(50).brief());
        }
        store.queuePosition(some, 1_000);
        store.groups(JobSpec.DEFAULT_QUEUE, 10);
        store.queues();
        store.depth("default", 1_000);
        store.waiting(1_000);
        store.liveQueues();
        store.dueQueues("", DueQueues.END, 500);
        store.live("", 1_000);
        store.live("none/", 1_000);
        store.deadGroups(JobQuery.deadLetters(), 20);
        store.deadGroups(JobQuery.deadLetters().queue(QUEUE), 20);
        store.audit(null, 50);
        store.audit(new JobId(1), 50);
        String next = store.audit(null, 50, null).next();
        store.audit(null, 50, next);
    }

    private JobId insertOne() {
        return store.insert(specs("one", 1)).get(0).id();
    }

    private void work() {
        Claim claim = claim();
        List<Job> jobs = claim.jobs();
        store.progress(jobs.get(0).id(), claim.token(), new Progress(10, "begun"));
        store.settle(
                List.of(
                        TestSettlements.success(claim, jobs.get(0)),
                        TestSettlements.success(claim, jobs.get(1), "{}"),
                        TestSettlements.fail(claim, jobs.get(2)),
                        TestSettlements.retry(claim, jobs.get(3), HOUR),
                        TestSettlements.park(claim, jobs.get(4), PARKER),
                        TestSettlements.parkedRetry(claim, jobs.get(5), HOUR, PARKER)),
                List.of());
        store.settle(
                List.of(
                        TestSettlements.snooze(claim, jobs.get(6), HOUR),
                        TestSettlements.interruption(claim, jobs.get(7)),
                        TestSettlements.loss(claim, jobs.get(8)),
                        TestSettlements.cancellation(claim, jobs.get(9)),
                        TestSettlements.putBack(claim, jobs.get(10))),
                List.of(claim.token()));
        // As reports of remote workers do, which name no lease to close.
        Claim remote = claim();
        List<Settlement> successes = remote.jobs().stream()
                .map(job -> TestSettlements.success(remote, job))
                .toList();
        store.settle(successes.subList(0, 5));
        store.settle(successes.subList(5, successes.size()));
        Claim whole = claim();
        store.settle(
                whole.jobs().stream()
                        .map(job -> TestSettlements.success(whole, job))
                        .toList(),
                List.of(whole.token()));
        store.claim(TestClaims.upTo(100).suspects(Suspects.upTo(10)).build());
        store.claim(TestClaims.upTo(100).from("queue-1", QUEUE).build());
        store.claim(TestClaims.upTo(100).types("rare").build());
        store.claim(TestClaims.upTo(100).typesBut("rare").remote().build());
        store.insert(List.of(
                JobSpec.builder("work", "{}").queue("grouped").group("a").build(),
                JobSpec.builder("rare", "{}").queue("grouped").group("b").build()));
        for (int claims = 0; claims < 3; claims++) {
            // On PostgreSQL a claim that finds as many groups as it wants jobs lets the next one walk them.
            store.claim(TestClaims.upTo(1).from("grouped").build());
            store.claim(TestClaims.upTo(100).from("grouped").build());
            store.claim(TestClaims.upTo(10).from("grouped", "queue-1").build());
        }
        store.claim(TestClaims.upTo(10).from("grouped").types("work").build());
    }

    private Claim claim() {
        store.insert(specs("claimed", 100));
        List<Claim> claims =
                store.claim(TestClaims.upTo(50).suspects(Suspects.NONE).build());
        if (claims.isEmpty()) {
            throw new AssertionError("nothing was claimed");
        }
        return claims.get(0);
    }

    private void leases() {
        Claim claim = claim();
        store.renew("worker-1", List.of(claim.token()), HOUR);
        store.excuse("worker-1", List.of(claim.token()), true);
        store.takeOver("worker-2", HOUR, 10);
        store.dropEmptyLeases(1_000);
    }

    private void bulk() {
        JobId cancelled = insertOne();
        store.cancel(cancelled, NOTE);
        store.cancel(insertOne(), NOTE, List.of());
        store.cancelAll(ids(500), NOTE, job -> List.of());
        List<JobId> dead = dead(402);
        Requeue requeue = new Requeue("replay", Duration.ZERO, null, true, 0, Requeue.Edit.NONE);
        store.requeue(dead.get(0), requeue, NOTE);
        store.requeueAll(dead.subList(1, 201).stream().collect(Collectors.toMap(id -> id, id -> requeue)), NOTE);
        JobChange change = JobChange.NONE.withPriority(3).toQueue("queue-2");
        store.changeAll(ids(500).stream().collect(Collectors.toMap(id -> id, id -> change)), NOTE);
        store.discard(dead.get(201), NOTE);
        store.discardAll(dead.subList(202, 402), NOTE);
        store.pause("queue-1", NOTE);
        store.resume("queue-1", NOTE);
        store.limit("queue-1", 10, NOTE);
        store.claim(TestClaims.upTo(10).from("queue-1").build());
        store.limit("queue-1", null, NOTE);
    }

    private List<JobId> ids(int number) {
        return store.insert(specs("bulk", number)).stream().map(Enqueued::id).toList();
    }

    private List<JobId> dead(int number) {
        List<JobId> dead = new ArrayList<>();
        while (dead.size() < number) {
            store.insert(specs("dead", number));
            for (Claim claim : store.claim(TestClaims.upTo(number)
                    .demands(new io.reprise.store.ClaimRequest.Demand(QUEUE, number))
                    .suspects(Suspects.NONE)
                    .build())) {
                store.settle(
                        claim.jobs().stream()
                                .map(job -> TestSettlements.fail(claim, job))
                                .toList(),
                        List.of(claim.token()));
                claim.jobs().forEach(job -> dead.add(job.id()));
            }
        }
        return dead;
    }

    private void schedules() {
        Instant now = store.now();
        JobSpec job = spec().build();
        store.putSchedule("tour", "every 1m", job, now.minusSeconds(60));
        store.pauseSchedule("tour", true, NOTE);
        store.pauseSchedule("tour", false, NOTE);
        store.schedule("tour");
        store.schedules();
        store.nextFiring();
        List<StoredSchedule> due = store.dueSchedules(100, null);
        store.dueSchedules(100, due.get(due.size() - 1));
        StoredSchedule tour = store.schedule("tour").orElseThrow();
        store.fire("tour", tour.nextAt(), now.plus(HOUR), List.of(job));
        store.fireAll(List.of(new Firing("tour", now.plus(HOUR), now.plus(HOUR).plus(HOUR), List.of(job))));
        store.removeSchedule("tour");
        store.putSchedule("tour", "every 1m", job, now, NOTE);
        store.removeSchedule("tour", NOTE);
    }

    private void control() {
        store.controls();
        store.controls(List.of("breaker/a", PARKER));
        store.controlsAfter(Long.MAX_VALUE / 2);
        long version = store.putControl(new ControlRow("breaker/tour", 0, "{}")).orElseThrow();
        version = store.putControl(new ControlRow("breaker/tour", version, "{}"), "force-open", NOTE)
                .orElseThrow();
        version = store.putControls(List.of(new ControlRow("breaker/tour", version, "{}")))
                .get(0)
                .orElseThrow();
        store.removeControls(List.of(new ControlRow("breaker/tour", version - 1, "")));
        store.removeControl("breaker/tour", version);
        store.parked();
        store.parkedBy();
        store.unpark(PARKER, 10);
        store.unpark(List.of(
                Unparking.backlog(PARKER, 10),
                Unparking.backlog("breaker/provider-2", 10).freely(),
                Unparking.fresh(PARKER, 10, store.now().minusSeconds(60))));
    }

    private void insight() {
        ErrorKey cause = new ErrorKey("work", "provider", "f1", "java.io.IOException");
        store.addCounts(new WorkerCounts(
                List.of(new Evidence(cause, 1, 2, 1)),
                List.of(new CostEntry(cause, CostEntry.SECONDS, 1, 1, 2, 0)),
                List.of(new Activity(
                        Activity.Subject.TYPE,
                        "work",
                        new Activity.Counts(10, 9, 1, 1, 1, 0, Duration.ofSeconds(1), Duration.ofSeconds(1))))));
        store.evidence();
        store.spending(Duration.ofDays(1));
        store.activity(Duration.ZERO, 5);
        store.waitingErrors(null, 100);
        store.addControlEvents(
                List.of(new ControlEvent(ControlEvent.Kind.BREAKER_OPENED, "mail", store.now(), "down")));
        store.controlEvents("mail", 10);
        for (Activity.Step step : Activity.Step.values()) {
            store.activity(ActivityQuery.sum(Activity.Subject.QUEUE, step, 5));
            store.activity(ActivityQuery.each(Activity.Subject.QUEUE, step, 5));
            store.activity(ActivityQuery.of(Activity.Subject.TYPE, "work", step, 5));
        }
        store.checkIn(new WorkerReport("tour", List.of(QUEUE), List.of("work"), 10, 0), HOUR);
        store.workers();
        store.checkOut("tour");
        Alert alert = new Alert(Alert.Kind.RETRY_RATE, "tour", 1, 0.5, store.now(), null);
        store.raise(alert);
        store.alerts();
        store.clear(alert);
        store.note("read", "payloads", NOTE, null);
        store.trigger("tour", spec().build(), NOTE);
        store.behind(Map.of(JobState.SUCCEEDED, HOUR, JobState.FAILED, HOUR, JobState.CANCELLED, HOUR));
        String cursor = store.bytes(null, 1_000).next();
        store.bytes(cursor, 1_000);
    }

    private void documents() {
        Document document = new Document("tour", "1", 0, "{}");
        long version = store.putDocument(document).orElseThrow();
        version = store.putDocument(new Document("tour", "1", version, "{}"), "change", NOTE)
                .orElseThrow();
        store.document("tour", "1");
        store.documents("tour", 100, null);
        store.documents("tour", 100, "0");
        store.removeDocument(new Document("tour", "1", version - 1, "{}"), "remove", NOTE);
        store.removeDocument(new Document("tour", "1", version, "{}"));
    }

    private void lineUp(boolean byCreation) {
        store.insert(List.of(TestJobs.on("lined").build()));
        for (Claim claim : store.claim(TestClaims.upTo(10).from("lined").build())) {
            claim.jobs().forEach(job -> store.settle(List.of(TestSettlements.retry(claim, job, Duration.ZERO))));
        }
        store.lineUp("lined", byCreation, 100);
    }

    private void upkeep() {
        store.lead("upkeep", "tour", HOUR);
        store.giveTurns(Duration.ZERO, 100);
        FlowLimit both = new FlowLimit(5, 100, HOUR, 10);
        store.flow("grouped", GroupRules.EQUAL.limit("*", both).type("work", both), "group-1");
        lineUp(true);
        lineUp(false);
        store.expire(100);
        store.expire(100, job -> List.of());
        for (JobState state : List.of(JobState.SUCCEEDED, JobState.FAILED, JobState.CANCELLED)) {
            store.prune(Set.of(state), Duration.ofDays(2), 1_000);
        }
        store.pruneAudit(Duration.ofDays(2), 1_000);
        store.maintain();
        store.resign("upkeep", "tour");
    }
}
