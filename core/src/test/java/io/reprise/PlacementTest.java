// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.reprise.insight.Alert;
import io.reprise.insight.Explanation;
import io.reprise.job.JobId;
import io.reprise.job.JobSpec;
import io.reprise.job.JobSpec.Needs;
import io.reprise.remote.RemoteLease;
import io.reprise.testing.InMemoryJobStore;
import io.reprise.testing.InlineWorker;
import io.reprise.testing.ManualClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Jobs run only on workers that offer what they need. */
class PlacementTest {

    private static final JobType<String> WORK = JobType.of("work", String.class);

    private final ManualClock clock = new ManualClock();
    private final InMemoryJobStore store = new InMemoryJobStore(clock);
    private final Map<String, String> ranOn = new HashMap<>();

    private InlineWorker worker(String name, UnaryOperator<RepriseBuilder> options) {
        RepriseBuilder builder = Reprise.builder()
                .store(store)
                .codec(new TextCodec())
                .name(name)
                .handle(WORK, (payload, job) -> ranOn.put(payload, name));
        return InlineWorker.start(options.apply(builder), clock);
    }

    @Test
    void a_job_runs_on_a_worker_that_offers_all_that_it_needs() {
        try (InlineWorker plain = worker("plain", builder -> builder);
                InlineWorker gpu = worker("gpu", builder -> builder.offers("gpu"));
                InlineWorker both = worker("both", builder -> builder.offers("gpu", "eu"))) {
            JobId id = plain.reprise().enqueue(WORK.job("needs both").needs("gpu", "eu"));
            plain.reprise().enqueue(WORK.job("needs gpu").needs("gpu"));
            plain.reprise().enqueue(WORK.job("needs nothing"));
            assertThat(store.find(id).orElseThrow().queue()).isEqualTo("default@needs:eu:gpu");
            assertThat(store.find(id).orElseThrow().spec().needs()).containsExactly("eu", "gpu");
            plain.advance(Duration.ofSeconds(5));
            assertThat(ranOn).containsOnlyKeys("needs nothing");
            gpu.advance(Duration.ofSeconds(5));
            assertThat(ranOn).containsOnlyKeys("needs nothing", "needs gpu").containsEntry("needs gpu", "gpu");
            both.advance(Duration.ofSeconds(5));
            assertThat(ranOn).containsEntry("needs both", "both");
        }
    }

    @Test
    void a_worker_that_names_its_queues_runs_what_waits_beside_them() {
        try (InlineWorker other = worker(
                        "other", builder -> builder.queues(Queue.of("other")).offers("gpu"));
                InlineWorker mail = worker(
                        "mail", builder -> builder.queues(Queue.of("mail")).offers("gpu"))) {
            mail.reprise().enqueue(WORK.job("a").queue("mail").needs("gpu"));
            other.advance(Duration.ofSeconds(5));
            assertThat(ranOn).isEmpty();
            mail.advance(Duration.ofSeconds(5));
            assertThat(ranOn).containsEntry("a", "mail");
        }
    }

    @Test
    void a_job_that_nobody_can_run_says_so_and_raises_an_alert() {
        try (InlineWorker plain = worker("plain", builder -> builder.queues(Queue.of("mail")))) {
            plain.advance(Duration.ofSeconds(11));
            JobId id = plain.reprise().enqueue(WORK.job("a").queue("mail").needs("gpu", "eu"));
            plain.advance(Duration.ofSeconds(21));
            assertThat(plain.reprise().explain(id).reasons())
                    .contains(new Explanation.NoOffer("mail", List.of("eu", "gpu")));
            assertThat(plain.reprise().explain(id).sentence())
                    .contains("no live worker that serves queue mail offers eu and gpu");
            assertThat(plain.reprise().alerts()).singleElement().satisfies(alert -> {
                assertThat(alert.kind()).isEqualTo(Alert.Kind.NO_OFFER);
                assertThat(alert.message()).isEqualTo("No worker offers what jobs of queue mail@needs:eu:gpu need");
            });
            try (InlineWorker able =
                    worker("able", builder -> builder.queues(Queue.of("mail")).offers("eu", "gpu", "ssd"))) {
                able.advance(Duration.ofSeconds(11));
                plain.advance(Duration.ofSeconds(21));
                assertThat(ranOn).containsEntry("a", "able");
                assertThat(plain.reprise().alerts()).isEmpty();
            }
        }
    }

    @Test
    void a_remote_worker_gets_what_it_offers() {
        try (InlineWorker server = worker("server", builder -> builder.remoteWorkers())) {
            server.advance(Duration.ofSeconds(5));
            JobType<String> far = JobType.of("far", String.class);
            server.reprise().enqueue(far.job("a").queue("mail").needs("gpu"));
            RemoteLease.LeaseRequest any =
                    new RemoteLease.LeaseRequest("remote", List.of(), Set.of("far"), 10, Duration.ofMinutes(1));
            RemoteLease.LeaseRequest named =
                    new RemoteLease.LeaseRequest("remote", List.of("mail"), Set.of("far"), 10, Duration.ofMinutes(1));
            RemoteWorkers workers = server.reprise().remoteWorkers();
            assertThat(workers.lease(any)).isEmpty();
            assertThat(workers.lease(named)).isEmpty();
            assertThat(workers.lease(named.offering(Set.of("eu")))).isEmpty();
            assertThat(workers.lease(named.offering(Set.of("eu", "gpu")))).hasSize(1);
        }
    }

    @Test
    void a_label_or_a_name_that_cannot_be_one_is_refused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> WORK.job("a").needs("g\u0007pu"))
                .withMessageContaining("label");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Reprise.builder().offers("a b"))
                .withMessageContaining("label 'a b' is not 1 to 30 letters");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> WORK.job("a").queue("q".repeat(95)).needs("gpu"))
                .withMessageContaining("queue");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> WORK.job("a").needs("1", "2", "3", "4", "5", "6", "7", "8", "9"))
                .withMessageContaining("at most 8 labels, not 9");
    }

    @Test
    void a_second_call_replaces_the_needs() {
        JobSpec spec = JobSpec.builder("work", "{}")
                .queue("mail")
                .needs(List.of("gpu"))
                .needs(List.of("eu"))
                .build();
        assertThat(spec.queue()).isEqualTo("mail@needs:eu");
        assertThat(spec.toBuilder().needs(List.of()).build().queue()).isEqualTo("mail");
        assertThat(Needs.base(spec.queue())).isEqualTo("mail");
        assertThat(Needs.areOffered("mail", Set.of())).isTrue();
    }

    /** Jobs and workers drawn by seed. Returns the jobs that ran where they must not, and those that never ran. */
    private static List<String> world(long seed, UnaryOperator<RepriseBuilder> bug) {
        Random random = new Random(seed);
        PlacementTest world = new PlacementTest();
        // Sorted: other maps have another order in each process, and the world would not be that of its seed.
        Map<String, Set<String>> offers = new TreeMap<>(
                Map.of("none", Set.of(), "gpu", Set.of("gpu"), "eu", Set.of("eu"), "all", Set.of("gpu", "eu")));
        List<InlineWorker> workers = new ArrayList<>();
        Map<String, Set<String>> needs = new HashMap<>();
        try {
            offers.forEach((name, labels) -> workers.add(world.worker(name, builder -> {
                RepriseBuilder offering = builder.offers(labels.toArray(String[]::new));
                RepriseBuilder queued = random.nextBoolean() ? offering.queues(Queue.of("a"), Queue.of("b")) : offering;
                return name.equals("none") ? bug.apply(queued) : queued;
            })));
            for (int i = 0; i < 40; i++) {
                List<String> labels = new ArrayList<>(List.of("gpu", "eu"));
                labels.removeIf(label -> random.nextBoolean());
                needs.put("job-" + i, Set.copyOf(labels));
                workers.get(0)
                        .reprise()
                        .enqueue(WORK.job("job-" + i)
                                .queue(random.nextBoolean() ? "a" : "b")
                                .needs(labels.toArray(String[]::new)));
                workers.get(random.nextInt(4)).advance(Duration.ofMillis(random.nextInt(300)));
            }
            workers.forEach(worker -> worker.advance(Duration.ofSeconds(10)));
        } finally {
            workers.forEach(InlineWorker::close);
        }
        List<String> broken = new ArrayList<>();
        needs.forEach((job, labels) -> {
            String worker = world.ranOn.get(job);
            if (worker == null || !offers.get(worker).containsAll(labels)) {
                broken.add(job + " needs " + labels + ", ran on " + worker);
            }
        });
        return broken;
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5})
    void needs_are_kept_in_every_world(long seed) {
        assertThat(world(seed, builder -> builder)).isEmpty();
    }

    @Test
    void a_worker_that_takes_what_it_does_not_offer_is_found() {
        assertThat(world(1, builder -> builder.queues(Queue.of("a@needs:gpu"), Queue.of("b@needs:gpu"))))
                .isNotEmpty();
    }
}
