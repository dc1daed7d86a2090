// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import static io.reprise.EngineFixture.EXACT;
import static io.reprise.EngineFixture.WORK;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.reprise.events.EventPages;
import io.reprise.events.EventPages.EventPage;
import io.reprise.events.EventPages.Pending;
import io.reprise.events.EventPages.Subject;
import io.reprise.job.JobId;
import io.reprise.store.JobStore;
import io.reprise.store.StoreException;
import java.io.IOException;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** Events that a process could not tell, because it died or the store did not answer. In virtual time. */
class EventRepairTest {

    private static final Duration LISTEN = Duration.ofHours(1);

    /** Kinds of events by job, in the order of the pages. */
    private static Map<String, List<String>> told(JobStore store) {
        Map<String, List<String>> told = new TreeMap<>();
        for (EventPage page : new EventPages(store, "test").read(0, 1_000)) {
            assertThat(page.pending()).as("page %s", page.number()).isNull();
            for (String event : page.events()) {
                String kind = event.replaceFirst("^.*?\"kind\":\"([A-Z_]+)\".*$", "$1");
                String id = event.replaceFirst("^.*?\"id\":\"(\\d+)\".*$", "$1");
                told.computeIfAbsent(id, key -> new ArrayList<>()).add(kind);
            }
        }
        return told;
    }

    private static void listen(EngineFixture engine) {
        long unused = new EventPages(engine.memory, "stream").listen(LISTEN);
        engine.worker.advance(Duration.ofSeconds(5));
    }

    @Test
    void every_step_of_a_job_is_in_the_pages_in_order() {
        try (EngineFixture engine = new EngineFixture((payload, job) -> {
            if (job.attempt() == 1) {
                throw new IOException("once");
            }
        })) {
            engine.reprise.enqueue(WORK.job("before").retry(EXACT));
            engine.worker.advance(Duration.ofSeconds(1));
            assertThat(new EventPages(engine.memory, "test").last())
                    .as("nothing is written while nobody listens")
                    .isZero();
            listen(engine);
            JobId id = engine.reprise.enqueue(WORK.job("x").retry(EXACT));
            engine.worker.advance(Duration.ofSeconds(10));
            assertThat(told(engine.memory).get(id.toString()))
                    .containsExactly("ENQUEUED", "STARTED", "RETRY_SCHEDULED", "STARTED", "SUCCEEDED");
        }
    }

    @Test
    void what_a_dead_process_settled_enqueued_and_changed_is_told_from_the_store() {
        try (EngineFixture engine = new EngineFixture((payload, job) -> {
            throw new IOException("always");
        })) {
            listen(engine);
            EventPages dead = new EventPages(engine.memory, "dead");
            JobId failed = engine.reprise.enqueue(WORK.job("x").retry(EXACT.maxAttempts(1)));
            engine.worker.advance(Duration.ofSeconds(1));
            long token = engine.reprise.attempts(failed).get(0).token();
            // The process dies after these changes and before it has told them.
            EventPage settles = dead.reserve(
                    List.of(),
                    new Pending(
                            engine.memory.now(),
                            List.of(new Subject(failed, token), new Subject(failed, token + 1_000)),
                            false));
            EventPage enqueues = dead.reserve(List.of(), new Pending(engine.memory.now(), List.of(), true));
            JobId untold = engine.memory
                    .insert(List.of(io.reprise.job.JobSpec.builder("other", "{}")
                            .delay(LISTEN)
                            .build()))
                    .get(0)
                    .id();
            EventPage changes = dead.reserve(
                    List.of(),
                    new Pending(engine.memory.now(), List.of(new Subject(failed, Subject.BY_A_PERSON)), false));
            assertThat(settles.number()).isLessThan(enqueues.number());
            assertThat(enqueues.number()).isLessThan(changes.number());
            JobId later = engine.reprise.enqueue(WORK.job("later").after(LISTEN));

            engine.worker.advance(Duration.ofSeconds(20));

            Map<String, List<String>> told = told(engine.memory);
            assertThat(told.get(failed.toString())).containsExactly("ENQUEUED", "STARTED", "FAILED", "FAILED");
            assertThat(told.get(untold.toString())).containsExactly("ENQUEUED");
            assertThat(told.get(later.toString())).as("not told twice").containsExactly("ENQUEUED");
        }
    }

    @Test
    void a_number_without_a_page_is_given_up() {
        try (EngineFixture engine = new EngineFixture((payload, job) -> {})) {
            listen(engine);
            engine.reprise.enqueue(WORK.job("x"));
            engine.worker.advance(Duration.ofSeconds(2));
            EventPages pages = new EventPages(engine.memory, "dead");
            pages.append(List.of("{\"kind\":\"STARTED\",\"id\":\"1\"}"));
            long lost = pages.last();
            engine.memory.documents("event-page", 1_000, null).items().stream()
                    .filter(document -> Long.parseLong(document.id()) == lost)
                    .forEach(engine.memory::removeDocument);
            JobId id = engine.reprise.enqueue(WORK.job("y"));
            engine.worker.advance(Duration.ofSeconds(20));
            List<Long> numbers =
                    pages.read(0, 1_000).stream().map(EventPage::number).toList();
            for (int i = 1; i < numbers.size(); i++) {
                assertThat(numbers.get(i)).isEqualTo(numbers.get(i - 1) + 1);
            }
            assertThat(told(engine.memory).get(id.toString())).containsExactly("ENQUEUED", "STARTED", "SUCCEEDED");
        }
    }

    /** A store that loses its answers to these calls, each after it has done what was asked. */
    private static JobStore losing(JobStore store, Set<String> calls, int[] losses) {
        InvocationHandler handler = (proxy, method, args) -> {
            try {
                Object answer = method.invoke(store, args);
                if (calls.contains(method.getName()) && losses[0] > 0) {
                    losses[0]--;
                    throw new StoreException("lost", new IOException("lost"), true);
                }
                return answer;
            } catch (InvocationTargetException e) {
                throw e.getCause();
            }
        };
        return (JobStore)
                Proxy.newProxyInstance(JobStore.class.getClassLoader(), new Class<?>[] {JobStore.class}, handler);
    }

    @Test
    void an_outcome_whose_answer_was_lost_is_told_once_and_in_its_place() {
        int[] losses = {0};
        try (EngineFixture engine = new EngineFixture(
                (payload, job) -> {}, builder -> builder, store -> losing(store, Set.of("settle"), losses))) {
            listen(engine);
            losses[0] = 2;
            JobId id = engine.reprise.enqueue(WORK.job("x"));
            engine.worker.advance(Duration.ofMinutes(1));
            assertThat(told(engine.memory).get(id.toString())).containsExactly("ENQUEUED", "STARTED", "SUCCEEDED");
        }
    }

    @Test
    void an_enqueue_whose_answer_was_lost_is_told() {
        int[] losses = {0};
        try (EngineFixture engine = new EngineFixture(
                (payload, job) -> {}, builder -> builder, store -> losing(store, Set.of("insert"), losses))) {
            listen(engine);
            losses[0] = 1;
            assertThatExceptionOfType(StoreException.class)
                    .isThrownBy(() -> engine.reprise.enqueue(WORK.job("x").after(LISTEN)));
            engine.worker.advance(Duration.ofSeconds(20));
            assertThat(told(engine.memory))
                    .hasSize(1)
                    .allSatisfy((id, kinds) -> assertThat(kinds).containsExactly("ENQUEUED"));
        }
    }

    @Test
    void pages_that_cannot_be_filled_at_once_are_filled_later() {
        int[] losses = {0};
        try (EngineFixture engine = new EngineFixture(
                (payload, job) -> {}, builder -> builder, store -> losing(store, Set.of("putDocument"), losses))) {
            listen(engine);
            losses[0] = 7;
            List<JobId> ids = new ArrayList<>();
            for (int i = 0; i < 5; i++) {
                ids.add(engine.reprise.enqueue(WORK.job("x" + i)));
                engine.worker.advance(Duration.ofSeconds(1));
            }
            engine.worker.advance(Duration.ofMinutes(2));
            Map<String, List<String>> told = told(engine.memory);
            assertThat(ids)
                    .allSatisfy(id -> assertThat(told.get(id.toString())).contains("ENQUEUED", "STARTED", "SUCCEEDED"));
        }
    }
}
