// SPDX-License-Identifier: Apache-2.0
package io.reprise.simulator;

import io.reprise.DeferredHandler;
import io.reprise.JobContext;
import io.reprise.JobType;
import io.reprise.PayloadCodec;
import java.util.function.Consumer;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/**
 * The handler of every simulated job: one call of the downstream. The payload is the arrival
 * time of the job, in seconds.
 */
public final class SimulatedHandler {

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

    /** Observes the beginning and end of calls. */
    public interface Observer {

        default void began(SimulatedWorker worker, double arrivedAt, JobContext job) {}

        default void ended(double arrivedAt, @Nullable Throwable error) {}
    }

    private final SimulatedDownstream downstream;
    private final Observer observer;
    private final LongFunction<ClientBudget> budgets;

    public SimulatedHandler(SimulatedDownstream downstream, Observer observer) {
        this(downstream, observer, job -> ClientBudget.UNLIMITED);
    }

    /** Uses budgets that the clients keep, found by the number of the job. */
    public SimulatedHandler(SimulatedDownstream downstream, Observer observer, LongFunction<ClientBudget> budgets) {
        this.downstream = downstream;
        this.observer = observer;
        this.budgets = budgets;
    }

    DeferredHandler<Double> on(SimulatedWorker worker) {
        return (arrivedAt, job, end) -> {
            ClientBudget budget = budgets.apply(job.id().value());
            Call call = new Call(worker, arrivedAt, budget, end);
            if (job.attempt() > 1 && !budget.pays()) {
                call.over(Errors.outOfBudget());
            } else {
                budget.sent();
                observer.began(worker, arrivedAt, job);
                downstream.call(call::over);
            }
            return () -> call.over(Errors.interrupted());
        };
    }

    private final class Call {

        private final SimulatedWorker worker;
        private final double arrivedAt;
        private final ClientBudget budget;
        private final Consumer<@Nullable Throwable> end;
        private boolean over;

        Call(SimulatedWorker worker, double arrivedAt, ClientBudget budget, Consumer<@Nullable Throwable> end) {
            this.worker = worker;
            this.arrivedAt = arrivedAt;
            this.budget = budget;
            this.end = end;
            worker.executor().take();
        }

        void over(@Nullable Throwable error) {
            worker.whenAwake(() -> end(error));
        }

        private void end(@Nullable Throwable error) {
            if (over) {
                return;
            }
            over = true;
            if (error == null) {
                budget.succeeded();
            } else {
                budget.failed();
            }
            observer.ended(arrivedAt, error);
            end.accept(error);
            worker.executor().free();
        }
    }
}
