// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import org.junit.jupiter.api.Test;

class FairQueueTest {

    private final Queue<Runnable> thread = new ArrayDeque<>();
    private final FairQueue queue = new FairQueue(thread::add);
    private final List<String> done = new ArrayList<>();

    private void add(String owner) {
        queue.add(owner, () -> done.add(owner));
    }

    @Test
    void who_brings_much_waits_for_who_brings_little() {
        for (int n = 0; n < 100; n++) {
            add("evil");
        }
        add("victim");
        add("other");
        while (!thread.isEmpty()) {
            thread.remove().run();
        }
        assertThat(done.subList(0, 4)).containsExactly("evil", "victim", "other", "evil");
        assertThat(done).hasSize(102);
    }
}
