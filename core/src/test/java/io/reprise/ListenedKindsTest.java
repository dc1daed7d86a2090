// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import static io.reprise.EngineFixture.WORK;
import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.insight.JobEvent;
import io.reprise.insight.JobEvent.Kind;
import io.reprise.testing.InMemoryJobStore;
import io.reprise.testing.InlineWorker;
import io.reprise.testing.ManualClock;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Test;

class ListenedKindsTest {

    private final ManualClock clock = new ManualClock();
    private final List<String> told = new ArrayList<>();

    /** A listener to one kind of transition. */
    private final class OneKind implements JobListener {
        @Override
        public void onEvent(JobEvent event) {
            told.add("one " + event.kind());
        }

        @Override
        public boolean listensTo(Kind kind) {
            return kind == Kind.SUCCEEDED;
        }
    }

    /** Notes who surrounds a step. */
    private record Around(String name, List<String> told) implements JobInterceptor {
        @Override
        public <T> T onStep(JobContext job, String step, Callable<T> next) throws Exception {
            told.add(name + " before " + step);
            T result = next.call();
            told.add(name + " after " + step);
            return result;
        }
    }

    @Test
    void a_listener_is_told_only_of_the_transitions_that_it_wants() {
        try (InlineWorker worker = InlineWorker.start(
                Reprise.builder()
                        .store(new InMemoryJobStore(clock))
                        .codec(new TextCodec())
                        .listener(new OneKind())
                        .listener(event -> told.add("all " + event.kind()))
                        .handle(WORK, (payload, job) -> {}),
                clock)) {
            worker.reprise().enqueue(WORK.job("a"));
            worker.runDue();
        }
        assertThat(told).containsExactly("all ENQUEUED", "all STARTED", "one SUCCEEDED", "all SUCCEEDED");
    }

    @Test
    void interceptors_surround_the_work_of_a_step_the_first_one_outermost() {
        try (InlineWorker worker = InlineWorker.start(
                Reprise.builder()
                        .store(new InMemoryJobStore(clock))
                        .codec(new TextCodec())
                        .interceptor(new Around("outer", told))
                        .interceptor(new Around("inner", told))
                        .handle(WORK, (payload, job) -> job.step("send", () -> told.add("work"))),
                clock)) {
            worker.reprise().enqueue(WORK.job("a"));
            worker.runDue();
        }
        assertThat(told)
                .containsExactly(
                        "outer before send", "inner before send", "work", "inner after send", "outer after send");
    }
}
