// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.server.http.Response;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** No caller here looks by the clock: a caller that is answered was woken. */
class WaitingLinesTest {

    private static final Duration NEVER = Duration.ofHours(1);
    private static final String ANYBODY = "anybody";
    private static final Response FOUND = Response.ok(Map.of("found", true));
    private static final Response NOTHING = Response.ok(Map.of("found", false));

    private final ScheduledExecutorService threads = Executors.newScheduledThreadPool(2);
    private final WaitingLines lines = new WaitingLines(threads, new FairQueue(threads), NEVER);
    private final AtomicInteger jobs = new AtomicInteger();
    private final AtomicInteger looks = new AtomicInteger();

    @AfterEach
    void stop() {
        threads.shutdownNow();
    }

    private @Nullable Response look(boolean last) {
        looks.incrementAndGet();
        boolean found = jobs.getAndUpdate(n -> Math.max(0, n - 1)) > 0;
        return found ? FOUND : last ? NOTHING : null;
    }

    private CompletableFuture<Response> wait(Object leaseRequest, Duration limit) {
        return lines.wait(ANYBODY, leaseRequest, limit, this::look, () -> false);
    }

    private static Response get(CompletableFuture<Response> answer) throws Exception {
        return answer.get(1, TimeUnit.MINUTES);
    }

    @Test
    void who_came_first_is_served_first_and_the_others_wait_on() throws Exception {
        List<CompletableFuture<Response>> waiting = new ArrayList<>();
        for (int n = 0; n < 100; n++) {
            waiting.add(wait("same", NEVER));
        }
        jobs.set(2);
        lines.wake();
        assertThat(get(waiting.get(0))).isSameAs(FOUND);
        assertThat(get(waiting.get(1))).isSameAs(FOUND);
        assertThat(waiting.subList(2, 100)).noneMatch(CompletableFuture::isDone);
        jobs.set(98);
        lines.wake();
        for (CompletableFuture<Response> answer : waiting) {
            assertThat(get(answer)).isSameAs(FOUND);
        }
    }

    @Test
    void one_looks_for_all_who_wait_for_the_same() throws Exception {
        List<CompletableFuture<Response>> same = new ArrayList<>();
        for (int n = 0; n < 100; n++) {
            same.add(wait("same", NEVER));
        }
        CompletableFuture<Response> other = wait("other", NEVER);
        int before = looks.get();
        jobs.set(1);
        lines.wake();
        // The job went to one of the two lines; the second wake serves the other.
        await(() -> jobs.get() == 0);
        jobs.set(100);
        lines.wake();
        assertThat(get(other)).isSameAs(FOUND);
        for (CompletableFuture<Response> answer : same) {
            assertThat(get(answer)).isSameAs(FOUND);
        }
        assertThat(looks.get() - before).as("looks for 101 jobs").isLessThan(150);
    }

    private static void await(BooleanSupplier condition) {
        TestServer.await(() -> condition.getAsBoolean() ? true : null);
    }

    @Test
    void work_that_is_announced_while_one_looks_is_not_missed() throws Exception {
        AtomicBoolean announced = new AtomicBoolean();
        CompletableFuture<Response> answer = lines.wait(
                ANYBODY,
                "same",
                NEVER,
                last -> {
                    if (announced.compareAndSet(false, true)) {
                        // Another's enqueue, just after this look.
                        lines.wake();
                        return null;
                    }
                    return FOUND;
                },
                () -> false);
        assertThat(get(answer)).isSameAs(FOUND);
    }

    @Test
    void a_time_that_is_up_is_answered_with_what_there_is() throws Exception {
        assertThat(get(wait("same", Duration.ofMillis(1)))).isSameAs(NOTHING);
    }

    @Test
    void a_request_that_looks_at_the_end_is_answered_too() throws Exception {
        CompletableFuture<Response> answer = lines.wait(
                ANYBODY,
                "same",
                NEVER,
                last -> {
                    if (!last) {
                        lines.finish();
                    }
                    return last ? NOTHING : null;
                },
                () -> false);
        assertThat(get(answer)).isSameAs(NOTHING);
    }

    @Test
    void a_request_that_comes_after_the_end_does_not_wait() throws Exception {
        lines.finish();
        assertThat(get(wait("same", NEVER))).isSameAs(NOTHING);
    }

    @Test
    void everybody_is_answered_at_the_end() throws Exception {
        List<CompletableFuture<Response>> waiting = List.of(wait("a", NEVER), wait("a", NEVER), wait("b", NEVER));
        lines.finish();
        for (CompletableFuture<Response> answer : waiting) {
            assertThat(get(answer)).isSameAs(NOTHING);
        }
    }

    @Test
    void who_has_gone_is_not_waited_for() throws Exception {
        WaitingLines often = new WaitingLines(threads, new FairQueue(threads), Duration.ofMillis(1));
        AtomicBoolean gone = new AtomicBoolean();
        CompletableFuture<Response> first =
                often.wait(ANYBODY, "same", NEVER, last -> last ? NOTHING : null, gone::get);
        CompletableFuture<Response> second =
                often.wait(ANYBODY, "same", NEVER, last -> last ? NOTHING : null, gone::get);
        gone.set(true);
        assertThat(get(first)).isSameAs(NOTHING);
        assertThat(get(second)).isSameAs(NOTHING);
    }

    @Test
    void a_look_that_fails_is_the_answer_and_the_next_one_looks() throws Exception {
        CompletableFuture<Response> first = lines.wait(
                ANYBODY,
                "same",
                NEVER,
                last -> {
                    throw new IllegalStateException("no store");
                },
                () -> false);
        CompletableFuture<Response> second = wait("same", NEVER);
        jobs.set(1);
        lines.wake();
        assertThat(get(second)).isSameAs(FOUND);
        assertThat(first).isCompletedExceptionally();
    }

    @Test
    void an_owner_with_many_lines_takes_no_looks_from_another() {
        WaitingLines often = new WaitingLines(threads, new FairQueue(threads), Duration.ofMillis(1));
        AtomicInteger many = new AtomicInteger();
        AtomicInteger few = new AtomicInteger();
        for (int n = 0; n < 200; n++) {
            CompletableFuture<Response> unused = often.wait("evil", n, NEVER, counted(many), () -> false);
        }
        CompletableFuture<Response> unused = often.wait("victim", "same", NEVER, counted(few), () -> false);
        await(() -> few.get() >= 20);
        int others = many.get();
        assertThat(others)
                .as("looks of the other beside 20, and the first of each line")
                .isLessThan(200 + 20 * 10);
    }

    private static LeaseWaits.Look counted(AtomicInteger looks) {
        return last -> {
            looks.incrementAndGet();
            return last ? NOTHING : null;
        };
    }
}
