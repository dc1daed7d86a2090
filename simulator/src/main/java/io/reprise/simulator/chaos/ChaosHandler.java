// SPDX-License-Identifier: Apache-2.0
package io.reprise.simulator.chaos;

import io.reprise.DeferredHandler;
import io.reprise.JobContext;
import io.reprise.JobRequest;
import io.reprise.JobType;
import io.reprise.PayloadCodec;
import io.reprise.job.JobSignal;
import io.reprise.job.Transaction;
import io.reprise.remote.StaleLeaseException;
import io.reprise.retry.RetryPolicy;
import io.reprise.simulator.chaos.ChaosPlan.Duty;
import io.reprise.store.StoreException;
import java.net.ConnectException;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Runs jobs by their duty and by chance until faults have stopped. Then every job succeeds. */
final class ChaosHandler implements DeferredHandler<String> {

    static final JobType<String> TYPE = JobType.of("chaos", String.class);

    /** How long a run may take. */
    static final Duration TIMEOUT = Duration.ofSeconds(8);

    static final PayloadCodec CODEC = new PayloadCodec() {
        @Override
        public String encode(Object value) {
            return value.toString();
        }

        @Override
        public <T> T decode(String json, Class<T> type) {
            return type.cast(json);
        }
    };

    /** The jobs that a job joins. */
    static final List<JobRequest<String>> PARTS = Collections.nCopies(
            3,
            TYPE.job(Duty.MIXED.name())
                    .queue("fast")
                    .timeout(TIMEOUT)
                    .retry(RetryPolicy.fixed(Duration.ofMillis(300)).maxAttempts(4)));

    private static final Transaction COMMITS_AT_ONCE = new Transaction() {};

    private final ChaosWorld world;
    private final ChaosWorker worker;
    private final SplittableRandom chance;

    ChaosHandler(ChaosWorld world, ChaosWorker worker) {
        this.world = world;
        this.worker = worker;
        this.chance = world.chance();
    }

    @Override
    public Runnable begin(String payload, JobContext job, Consumer<@Nullable Throwable> end) {
        Work work = new Work(job, Duty.valueOf(payload), end);
        work.begin();
        return work::interrupt;
    }

    /** One run. */
    private final class Work {

        private final JobContext job;
        private final Duty duty;
        private final Consumer<@Nullable Throwable> end;
        private boolean over;
        private boolean calling;

        Work(JobContext job, Duty duty, Consumer<@Nullable Throwable> end) {
            this.job = job;
            this.duty = duty;
            this.end = end;
        }

        void begin() {
            worker.executor().take();
            Map<String, String> details = new TreeMap<>();
            details.put("at", world.now().toString());
            Instant deadline = job.job().times().deadline();
            if (deadline != null && !worker.wasSuspendedSince(job.job().times().startedAt())) {
                details.put("deadline", deadline.toString());
            }
            world.log().started(worker.name(), job.id().value(), job.token(), details);
            if (duty == Duty.POISON && world.isChaotic()) {
                after(chance.nextInt(2_000), () -> {
                    world.count(Fault.POISON);
                    throw worker.crash("of job " + job.id());
                });
            } else if (duty == Duty.REPORTING) {
                after(chance.nextInt(500), this::report);
            } else if (duty == Duty.STEPS) {
                ChaosSteps steps = new ChaosSteps(job, this::effect, chance.nextInt(4) == 0);
                after(chance.nextInt(500), () -> next(steps));
            } else if (duty == Duty.JOIN) {
                after(chance.nextInt(500), this::join);
            } else {
                after(duration(), () -> over(outcome()));
            }
        }

        private void join() {
            if (over) {
                return;
            }
            calling = true;
            Throwable error = null;
            try {
                int results = job.join("parts", PARTS, String.class).size();
                if (results != PARTS.size()) {
                    world.violated(
                            "join early", job.id(), "went on with " + results + " of " + PARTS.size() + " results");
                }
            } catch (Crashed e) {
                throw e;
            } catch (Exception | Error e) {
                error = e;
            }
            calling = false;
            over(error);
        }

        private int duration() {
            if (!world.isChaotic()) {
                return 10 + chance.nextInt(100);
            }
            return switch (chance.nextInt(6)) {
                case 0 -> 0;
                case 1 -> chance.nextInt(12_000);
                default -> chance.nextInt(800);
            };
        }

        /** Does the next step of a job, and comes back for the one after it. */
        private void next(ChaosSteps steps) {
            if (over) {
                return;
            }
            calling = true;
            boolean more = false;
            Throwable error = null;
            try {
                more = steps.next();
            } catch (Crashed e) {
                throw e;
            } catch (Exception | Error e) {
                error = e;
            }
            calling = false;
            if (more) {
                after(chance.nextInt(world.isChaotic() ? 900 : 50), () -> next(steps));
            } else {
                over(error);
            }
        }

        private void effect(String step, boolean once) {
            world.log().stepped(worker.name(), job.id().value(), job.token(), step, once);
            if (world.isChaotic() && !once && chance.nextInt(5) == 0) {
                throw new IllegalStateException("by chance");
            }
        }

        private void report() {
            if (!over) {
                calling = true;
                job.progress(50, "half");
                calling = false;
                after(chance.nextInt(1_500), this::complete);
            }
        }

        private void complete() {
            if (over) {
                return;
            }
            calling = true;
            Throwable error = null;
            try {
                job.complete(COMMITS_AT_ONCE);
                error = chance.nextInt(4) == 0 ? new IllegalStateException("after the commit") : null;
            } catch (StoreException | StaleLeaseException e) {
                error = e;
            }
            calling = false;
            over(error);
        }

        private @Nullable Throwable outcome() {
            if (!world.isChaotic()) {
                return null;
            }
            return switch (chance.nextInt(12)) {
                case 0, 1 -> new IllegalStateException("by chance");
                case 2 -> new ConnectException("downstream is down");
                case 3 -> JobSignal.snooze(Duration.ofMillis(chance.nextInt(5_000)));
                case 4 -> JobSignal.retryAfter(Duration.ofMillis(chance.nextInt(5_000)), "told to");
                case 5 ->
                    chance.nextInt(3) == 0 ? JobSignal.fail("for good") : new OutOfMemoryError("not the real one");
                case 6 -> chance.nextInt(4) == 0 ? JobSignal.cancel("enough") : null;
                default -> null;
            };
        }

        void interrupt() {
            if (duty == Duty.DEAF) {
                return;
            }
            after(chance.nextInt(50), this::stop);
        }

        private void stop() {
            if (calling) {
                after(10, this::stop);
            } else {
                over(new InterruptedException("told to stop"));
            }
        }

        private void after(int millis, Runnable action) {
            world.timeline().after(Duration.ofMillis(millis), worker.label("job"), () -> worker.whenAwake(action));
        }

        private void over(@Nullable Throwable error) {
            if (over) {
                return;
            }
            over = true;
            world.log().ended(worker.name(), job.id().value(), job.token(), error != null);
            end.accept(error);
            worker.executor().free();
        }
    }
}
