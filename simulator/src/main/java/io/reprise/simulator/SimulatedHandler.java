// SPDX-License-Identifier: Apache-2.0
package io.reprise.simulator;

import io.reprise.JobContext;
import io.reprise.JobType;
import io.reprise.PayloadCodec;
import io.reprise.internal.DeferredHandler;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The handler of every simulated job: one call of the downstream. The payload is when the job arrived, in seconds. */
final class SimulatedHandler {

    static final JobType<Double> TYPE = JobType.of("call", Double.class);

    static final PayloadCodec CODEC = new PayloadCodec() {
        @Override
        public String encode(Object value) {
            return value.toString();
        }

        @Override
        public <T> T decode(String json, Class<T> type) {
            return type.cast(Double.valueOf(json));
        }
    };

    /** Sees calls begin and end. */
    interface Observer {

        default void began(SimulatedWorker worker, double arrivedAt, JobContext job) {}

        default void ended(double arrivedAt, @Nullable Throwable error) {}
    }

    private static final double NO_TIMEOUT = Double.POSITIVE_INFINITY;

    private final Downstream downstream;
    private final double timeout;
    private final Observer observer;

    SimulatedHandler(Downstream downstream, Observer observer) {
        this(downstream, NO_TIMEOUT, observer);
    }

    /** A client that waits at most so many seconds for an answer. */
    SimulatedHandler(Downstream downstream, double timeout, Observer observer) {
        this.downstream = downstream;
        this.timeout = timeout;
        this.observer = observer;
    }

    DeferredHandler<Double> on(SimulatedWorker worker) {
        return (arrivedAt, job, end) -> {
            Call call = new Call(worker, arrivedAt, end);
            observer.began(worker, arrivedAt, job);
            downstream.call(call::over);
            if (timeout < NO_TIMEOUT) {
                worker.world().after(timeout, () -> call.over(Errors.TIMEOUT));
            }
            return () -> call.over(Errors.INTERRUPTED);
        };
    }

    private final class Call {

        private final SimulatedWorker worker;
        private final double arrivedAt;
        private final Consumer<@Nullable Throwable> end;
        private boolean over;

        Call(SimulatedWorker worker, double arrivedAt, Consumer<@Nullable Throwable> end) {
            this.worker = worker;
            this.arrivedAt = arrivedAt;
            this.end = end;
            worker.bench().take();
        }

        void over(@Nullable Throwable error) {
            if (over || worker.isDead()) {
                return;
            }
            if (worker.isPaused()) {
                worker.world().at(worker.pausedUntil(), () -> over(error));
                return;
            }
            over = true;
            observer.ended(arrivedAt, error);
            end.accept(error);
            worker.bench().free();
        }
    }
}
