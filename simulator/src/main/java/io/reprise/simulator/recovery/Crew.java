// SPDX-License-Identifier: Apache-2.0
package io.reprise.simulator.recovery;

import io.reprise.DeferredHandler;
import io.reprise.JobContext;
import io.reprise.JobListener;
import io.reprise.JobType;
import io.reprise.PayloadCodec;
import io.reprise.Queue;
import io.reprise.Reprise;
import io.reprise.RepriseBuilder;
import io.reprise.control.ControlSettings;
import io.reprise.simulator.Errors;
import io.reprise.simulator.SimulatedWorker;
import io.reprise.simulator.World;
import io.reprise.store.JobStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/** The workers of a world. The payload of a job is the number of its resource. */
final class Crew {

    static final JobType<Integer> TYPE = JobType.of("call", Integer.class);

    private static final PayloadCodec CODEC = new PayloadCodec() {
        @Override
        public String encode(Object value) {
            return value.toString();
        }

        @Override
        public <T> T decode(String json, Class<T> type) {
            return type.cast(Integer.valueOf(json));
        }
    };

    /** The call that a run of a job makes. */
    interface Call {

        void begin(int resource, int worker, JobContext job, Answer answer);
    }

    /** How a call ends. */
    interface Answer {

        /** Ends the run. False if the run was over already: its time was up, or its worker is dead. */
        boolean end(@Nullable Throwable error);
    }

    private final World world;
    private final RecoveryPlan plan;
    private final JobStore store;
    private final boolean controlled;
    private final JobListener listener;
    private final Call call;
    private final IntConsumer onCut;
    private final List<String> queues;
    private final List<SimulatedWorker> workers = new ArrayList<>();
    private int started;

    Crew(
            World world,
            RecoveryPlan plan,
            JobStore store,
            boolean controlled,
            List<String> queues,
            JobListener listener,
            Call call,
            IntConsumer onCut) {
        this.world = world;
        this.plan = plan;
        this.store = store;
        this.controlled = controlled;
        this.queues = queues;
        this.listener = listener;
        this.call = call;
        this.onCut = onCut;
        for (int i = 0; i < plan.fleet().workers(); i++) {
            workers.add(worker(i));
        }
    }

    private SimulatedWorker worker(int index) {
        RepriseBuilder builder = Reprise.builder()
                .store(store)
                .codec(CODEC)
                .name("worker-" + ++started)
                .queues(queues.stream().map(Queue::of).toArray(Queue[]::new))
                // Ended jobs are already counted; keeping them would only fill the memory.
                .keepFinished(Duration.ofMinutes(1))
                .keepFailed(Duration.ofMinutes(1))
                .listener(listener);
        if (!controlled) {
            builder.control(ControlSettings.off());
        }
        return new SimulatedWorker(world, builder, plan.fleet().places(), TYPE, worker -> handler(worker, index));
    }

    private DeferredHandler<Integer> handler(SimulatedWorker worker, int index) {
        return (resource, job, end) -> {
            Run run = new Run(worker, end);
            call.begin(resource, index, job, run::over);
            return () -> {
                if (run.over(Errors.interrupted())) {
                    onCut.accept(resource);
                }
            };
        };
    }

    /** Returns a worker to enqueue through. */
    Reprise any() {
        return workers.get(0).reprise();
    }

    int size() {
        return workers.size();
    }

    /** Closes a worker and starts it again. */
    void restart(int index) {
        workers.get(index).reprise().close();
        workers.set(index, worker(index));
    }

    /** Kills a worker and starts another. */
    void replace(int index) {
        workers.get(index).die();
        workers.set(index, worker(index));
    }

    private static final class Run {

        private final SimulatedWorker worker;
        private final Consumer<@Nullable Throwable> end;
        private boolean over;

        Run(SimulatedWorker worker, Consumer<@Nullable Throwable> end) {
            this.worker = worker;
            this.end = end;
            worker.executor().take();
        }

        boolean over(@Nullable Throwable error) {
            if (over || worker.isDead()) {
                return false;
            }
            over = true;
            end.accept(error);
            worker.executor().free();
            return true;
        }
    }
}
