// SPDX-License-Identifier: Apache-2.0
package io.reprise.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.job.Attempt;
import io.reprise.job.Cancellation;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobQuery;
import io.reprise.job.JobSpec;
import io.reprise.job.JobState;
import io.reprise.job.JobStatus;
import io.reprise.job.KeyRule;
import io.reprise.job.Page;
import io.reprise.store.Claim;
import io.reprise.store.ClaimRequest;
import io.reprise.store.CountedAs;
import io.reprise.store.JobStore;
import io.reprise.store.LostClaim;
import io.reprise.store.Renewal;
import io.reprise.store.Settlement;
import io.reprise.testing.InMemoryJobStore;
import io.reprise.testing.ManualClock;
import io.reprise.testkit.contract.JobStoreContract;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The contract catches stores that are wrong in the ways stores have been wrong before. */
class ContractBitesTest {

    /** What a broken store does instead of one of its methods. */
    interface Fault {
        Object call(JobStore healthy, List<Object> arguments);
    }

    /** A fault in a method, and the test that must notice it. */
    record Broken(String how, String method, Fault fault, String noticedBy) {
        @Override
        public String toString() {
            return how;
        }
    }

    @ParameterizedTest
    @MethodSource
    void a_broken_store_is_noticed(Broken broken) {
        assertThat(failureOf(broken.noticedBy, healthy -> healthy))
                .as("on a healthy store")
                .isNull();
        assertThat(failureOf(broken.noticedBy, healthy -> replace(healthy, broken)))
                .as("on the broken store")
                .isInstanceOf(AssertionError.class);
    }

    static Stream<Broken> a_broken_store_is_noticed() {
        return Stream.of(
                new Broken(
                        "completion by id alone",
                        "settle",
                        (store, args) -> settle(store, args, each -> withToken(each, liveToken(store, each))),
                        "a_zombie_cannot_complete_a_job_that_was_claimed_anew"),
                new Broken(
                        "claims what is not due",
                        "insert",
                        (store, args) ->
                                insert(store, args, spec -> spec.toBuilder().delay(Duration.ZERO)),
                        "a_job_that_is_not_due_is_not_claimed"),
                new Broken(
                        "forgets unique keys",
                        "insert",
                        (store, args) ->
                                insert(store, args, spec -> spec.toBuilder().key(null, KeyRule.KEEP)),
                        "one_unique_key_makes_one_job"),
                new Broken(
                        "forgets idempotency keys",
                        "insert",
                        (store, args) ->
                                insert(store, args, spec -> spec.toBuilder().idempotencyKey(null)),
                        "a_finished_job_keeps_its_idempotency_key"),
                new Broken(
                        "inserts one by one",
                        "insert",
                        (store, args) -> ContractBitesTest.<List<JobSpec>>as(args.get(0)).stream()
                                .flatMap(spec -> store.insert(List.of(spec)).stream())
                                .toList(),
                        "a_rejected_key_names_its_holder_and_stores_nothing_of_the_call"),
                new Broken(
                        "stores text as ASCII",
                        "insert",
                        (store, args) -> insert(
                                store,
                                args,
                                spec -> spec.toBuilder().payload(spec.payload().replaceAll("[^\\x00-\\x7f]", "?"))),
                        "a_spec_comes_back_as_it_was_given"),
                new Broken(
                        "take-over keeps the token",
                        "takeOver",
                        keepsToken(),
                        "a_take_over_moves_the_jobs_under_a_new_token"),
                new Broken(
                        "rescues without ending the old token",
                        "takeOver",
                        (store, args) -> rescueLiveLeases(store),
                        "a_zombie_cannot_complete_a_job_that_was_taken_over"),
                new Broken(
                        "leaves leases without jobs behind",
                        "settle",
                        (store, args) -> store.settle(as(args.get(0)), args.size() > 1 ? as(args.get(1)) : List.of()),
                        "a_lease_goes_with_its_last_job_though_nobody_closes_it"),
                new Broken(
                        "renews anything",
                        "renew",
                        (store, args) -> new Renewal(Set.of(), Set.of()),
                        "renewal_tells_which_tokens_are_lost"),
                new Broken(
                        "no share for retries",
                        "claim",
                        (store, args) -> store.claim(withShare(as(args.get(0)), 0)),
                        "batches_of_one_starve_neither_retries_nor_fresh_jobs"),
                new Broken(
                        "does not suspect lost jobs",
                        "settle",
                        (store, args) -> settle(store, args, ContractBitesTest::lossAsInterruption),
                        "suspects_run_alone_and_one_at_a_time"),
                new Broken(
                        "rounds delays to seconds",
                        "settle",
                        (store, args) -> settle(store, args, ContractBitesTest::rounded),
                        "a_retrys_due_time_is_the_settled_time_plus_its_delay_exactly"),
                new Broken(
                        "stores follow-ups beside the outcome",
                        "settle",
                        (store, args) -> {
                            store.insert(ContractBitesTest.<List<Settlement>>as(args.get(0)).stream()
                                    .flatMap(each -> each.followUps().jobs().stream())
                                    .toList());
                            return settle(store, args, each -> each.with(Settlement.FollowUps.NONE));
                        },
                        "no_follow_up_of_a_stale_outcome_is_stored_while_those_of_others_are"),
                new Broken(
                        "keeps closed leases",
                        "settle",
                        (store, args) -> store.settle(as(args.get(0)), List.of()),
                        "closing_a_lease_gives_back_what_it_still_holds"),
                new Broken(
                        "pauses in name only",
                        "pause",
                        (store, args) -> args,
                        "a_paused_queue_gives_no_jobs_until_it_is_resumed"),
                new Broken("everybody leads", "lead", (store, args) -> true, "one_worker_wins_an_election"),
                new Broken(
                        "fires whenever asked",
                        "fire",
                        (store, args) -> Optional.of(store.insert(as(args.get(3)))),
                        "a_firing_happens_once"),
                new Broken(
                        "ignores cancellation of what runs",
                        "cancel",
                        (store, args) -> Cancellation.REQUESTED,
                        "a_job_asked_to_cancel_is_cancelled_instead_of_waiting_again"),
                new Broken(
                        "prunes whatever its age",
                        "prune",
                        (store, args) -> store.prune(Set.of(JobState.values()), Duration.ofDays(-1), 10),
                        "pruning_deletes_old_jobs_of_the_named_states_only"),
                new Broken(
                        "skips a job between pages",
                        "find",
                        (store, args) -> args.get(0) instanceof JobQuery query
                                ? skipping(store.find(query))
                                : store.find(ContractBitesTest.<JobId>as(args.get(0))),
                        "pages_have_neither_gaps_nor_doubles"),
                new Broken(
                        "loses decisions",
                        "attempts",
                        (store, args) -> store.attempts(as(args.get(0))).stream()
                                .map(ContractBitesTest::undecided)
                                .toList(),
                        "every_kind_of_decision_comes_back"));
    }

    private static Object insert(JobStore store, List<Object> args, Function<JobSpec, JobSpec.Builder> bend) {
        List<JobSpec> specs = as(args.get(0));
        return store.insert(specs.stream().map(spec -> bend.apply(spec).build()).toList());
    }

    private static Object settle(JobStore store, List<Object> args, UnaryOperator<Settlement> bend) {
        List<Settlement> settlements = as(args.get(0));
        return store.settle(settlements.stream().map(bend).toList(), as(args.get(1)));
    }

    private static long liveToken(JobStore store, Settlement settlement) {
        return store.find(settlement.job())
                .map(job -> job.status().holder())
                .map(JobStatus.Holder::token)
                .orElse(settlement.token());
    }

    private static Settlement withToken(Settlement each, long token) {
        return new Settlement(
                each.job(), token, each.spent(), each.ran(), each.next(), each.failure(), each.decision());
    }

    private static Settlement lossAsInterruption(Settlement each) {
        CountedAs spent = each.spent() == CountedAs.LOSS ? CountedAs.INTERRUPTION : each.spent();
        return new Settlement(
                each.job(), each.token(), spent, each.ran(), each.next(), each.failure(), each.decision());
    }

    private static Settlement rounded(Settlement each) {
        Settlement.Next next = each.next() instanceof Settlement.Wait wait
                ? new Settlement.Wait(
                        wait.reason(), Duration.ofSeconds(wait.delay().toSeconds()), wait.lastDelay())
                : each.next();
        return new Settlement(
                each.job(), each.token(), each.spent(), each.ran(), next, each.failure(), each.decision());
    }

    private static Attempt undecided(Attempt attempt) {
        return new Attempt(
                attempt.number(),
                attempt.token(),
                attempt.worker(),
                attempt.startedAt(),
                attempt.endedAt(),
                attempt.ending(),
                attempt.failure(),
                null);
    }

    private static ClaimRequest withShare(ClaimRequest request, double share) {
        return new ClaimRequest(
                request.worker(),
                request.lease(),
                request.max(),
                request.demands(),
                share,
                request.suspects(),
                Set.of());
    }

    private static Page<Job> skipping(Page<Job> page) {
        return page.next() == null
                ? page
                : new Page<>(page.items().subList(1, page.items().size()), page.next());
    }

    private static Fault keepsToken() {
        return (store, args) -> store.takeOver(as(args.get(0)), as(args.get(1)), as(args.get(2))).stream()
                .map(lost ->
                        new LostClaim(withToken(lost.claim(), lost.lostToken()), lost.lostToken(), lost.lostWorker()))
                .toList();
    }

    private static Claim withToken(Claim claim, long token) {
        return new Claim(token, claim.queue(), claim.claimedAt(), claim.alone(), claim.jobs());
    }

    /** Lists what runs as lost, but leaves its lease as it is. */
    private static List<LostClaim> rescueLiveLeases(JobStore store) {
        return store.find(JobQuery.all().state(JobState.RUNNING)).items().stream()
                .map(job -> {
                    JobStatus.Holder holder =
                            Objects.requireNonNull(job.status().holder());
                    Claim claim = new Claim(holder.token() + 1, job.queue(), store.now(), false, List.of(job));
                    return new LostClaim(claim, holder.token(), holder.worker());
                })
                .toList();
    }

    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
    private static <T> T as(Object argument) {
        return (T) argument;
    }

    private static JobStore replace(JobStore healthy, Broken broken) {
        return (JobStore) Proxy.newProxyInstance(
                JobStore.class.getClassLoader(), new Class<?>[] {JobStore.class}, (proxy, method, args) -> {
                    if (method.getName().equals(broken.method)) {
                        Object answer = broken.fault.call(healthy, List.of(args));
                        return method.getReturnType() == void.class ? null : answer;
                    }
                    try {
                        return method.invoke(healthy, args);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    /** Runs one test of the contract; null if it passes. */
    private static Throwable failureOf(String test, UnaryOperator<JobStore> change) {
        ManualClock clock = new ManualClock();
        JobStore store = change.apply(new InMemoryJobStore(clock));
        JobStoreContract contract = new JobStoreContract() {
            @Override
            public JobStore store() {
                return store;
            }

            @Override
            public void tick() {
                clock.advance(Duration.ofMillis(1));
            }
        };
        try {
            JobStoreContract.class.getMethod(test).invoke(contract);
            return null;
        } catch (InvocationTargetException e) {
            return e.getCause();
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("no such test: " + test, e);
        }
    }
}
