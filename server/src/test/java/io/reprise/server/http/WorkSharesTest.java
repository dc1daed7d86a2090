// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.Test;

class WorkSharesTest {

    @Test
    void work_of_one_that_takes_long_leaves_threads_to_others() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(4);
        WorkShares shares = new WorkShares(threads, 3);
        CountDownLatch released = new CountDownLatch(1);
        CountDownLatch slow = new CountDownLatch(100);
        CountDownLatch quick = new CountDownLatch(1);
        try {
            for (int n = 0; n < 100; n++) {
                threads.execute(() -> shares.run("evil", () -> {
                    awaitQuietly(released);
                    slow.countDown();
                }));
            }
            threads.execute(() -> shares.run("victim", quick::countDown));
            quick.await();
            assertThat(slow.getCount()).isEqualTo(100);
            released.countDown();
            slow.await();
        } finally {
            threads.shutdownNow();
        }
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void what_waits_is_done_in_its_order_and_work_that_fails_gives_its_place_back() {
        Queue<Runnable> thread = new ArrayDeque<>();
        WorkShares shares = new WorkShares(thread::add, 1);
        List<Integer> done = new ArrayList<>();
        thread.add(() -> shares.run("a", () -> {
            for (int n = 1; n <= 3; n++) {
                int number = n;
                shares.run("a", () -> done.add(number));
            }
            done.add(0);
            throw new IllegalStateException("on purpose");
        }));
        while (!thread.isEmpty()) {
            try {
                thread.remove().run();
            } catch (IllegalStateException e) {
                assertThat(e).hasMessage("on purpose");
            }
        }
        assertThat(done).containsExactly(0, 1, 2, 3);
        shares.run("a", () -> done.add(4));
        assertThat(done).endsWith(4);
    }
}
