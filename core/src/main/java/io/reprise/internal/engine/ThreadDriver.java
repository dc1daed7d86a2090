// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.engine;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The driver in production: one daemon thread per role, which steps, rests and is woken. {@code RepriseBuilder} creates
 * it. A role that throws rests for a second and goes on.
 */
public final class ThreadDriver implements Driver {

    private static final Logger log = LoggerFactory.getLogger("io.reprise.engine");
    private static final Duration AFTER_BUG = Duration.ofSeconds(1);
    private static final long MAX_AWAIT_SECONDS = 1_000_000_000;
    private static final Duration STOP_GRACE = Duration.ofSeconds(10);
    private static final long AWAIT_TICK_NANOS = 2_000_000;

    private final String owner;
    private final UserCalls calls;
    private final Map<Role, Loop> loops = new ConcurrentHashMap<>();

    public ThreadDriver(String owner) {
        this.owner = owner;
        this.calls = new UserCalls(owner);
    }

    @Override
    public long nanos() {
        return System.nanoTime();
    }

    @Override
    public void start(Role role) {
        Loop loop = new Loop(role);
        loops.put(role, loop);
        loop.thread.start();
    }

    @Override
    public void wake(Role role) {
        Loop loop = loops.get(role);
        if (loop != null) {
            loop.wake();
        }
    }

    @Override
    public void stop(Role role) {
        Loop loop = loops.remove(role);
        if (loop != null) {
            loop.stop();
        }
    }

    @Override
    public Map<String, Duration> busy() {
        Map<String, Duration> busy = new TreeMap<>();
        loops.values().forEach(loop -> busy.put(loop.role.name(), loop.busy()));
        return busy;
    }

    @Override
    public <T> T call(Callable<T> code, Duration limit) throws Exception {
        return calls.call(code, limit);
    }

    @Override
    public boolean await(BooleanSupplier condition, Duration limit) {
        long end = nanos() + Math.min(limit.toSeconds(), MAX_AWAIT_SECONDS) * 1_000_000_000L + limit.toNanosPart();
        while (!condition.getAsBoolean()
                && nanos() - end < 0
                && !Thread.currentThread().isInterrupted()) {
            LockSupport.parkNanos(this, AWAIT_TICK_NANOS);
        }
        return condition.getAsBoolean();
    }

    private final class Loop {
        private final Role role;
        private final Thread thread;
        private final ReentrantLock lock = new ReentrantLock();
        private final Condition changed = lock.newCondition();
        private volatile boolean woken;
        private volatile boolean stopped;
        private volatile boolean stepping = true;
        private volatile long changedNanos = nanos();

        Loop(Role role) {
            this.role = role;
            this.thread = new Thread(this::run, "reprise-" + role.name() + "-" + owner);
            this.thread.setDaemon(true);
        }

        void run() {
            while (!stopped) {
                woken = false;
                begins(true);
                Duration rest = step();
                begins(false);
                rest(rest);
            }
        }

        private void begins(boolean steps) {
            changedNanos = nanos();
            stepping = steps;
        }

        /** How long the present step has lasted. A thread that died counts as in its last step. */
        Duration busy() {
            return stepping || (!thread.isAlive() && !stopped)
                    ? Duration.ofNanos(Math.max(0, nanos() - changedNanos))
                    : Duration.ZERO;
        }

        private Duration step() {
            try {
                return role.step();
            } catch (Throwable e) { // Even an Error: if a role dies, the worker loses its leases.
                log.error("The {} failed in an unforeseen way; it goes on in {}", role.name(), AFTER_BUG, e);
                return AFTER_BUG;
            }
        }

        private void rest(Duration duration) {
            long left = duration.toNanos();
            if (left <= 0 || woken || stopped) {
                return;
            }
            lock.lock();
            try {
                while (left > 0 && !woken && !stopped) {
                    left = changed.awaitNanos(left);
                }
            } catch (InterruptedException e) {
                // Nothing interrupts a role: a stop sets the flag. Treated as a wake-up.
                woken = true;
            } finally {
                lock.unlock();
            }
        }

        void wake() {
            if (woken) {
                return;
            }
            lock.lock();
            try {
                woken = true;
                changed.signalAll();
            } finally {
                lock.unlock();
            }
        }

        void stop() {
            lock.lock();
            try {
                stopped = true;
                changed.signalAll();
            } finally {
                lock.unlock();
            }
            try {
                if (thread != Thread.currentThread()) {
                    thread.join(STOP_GRACE.toMillis());
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            if (thread.isAlive() && thread != Thread.currentThread()) {
                log.error(
                        "The {} does not stop; it is left behind at {}", role.name(), List.of(thread.getStackTrace()));
            }
        }
    }
}
