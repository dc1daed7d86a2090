// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** Who asks for what takes long to read, and how old the answer may be. */
class RecentTest {

    private final AtomicLong clock = new AtomicLong();
    private final AtomicInteger reads = new AtomicInteger();
    private final List<Runnable> tasks = new ArrayList<>();
    private Duration takes = Duration.ofSeconds(1);
    private Runnable meanwhile = () -> {};
    private final Recent<Integer> recent = Recent.behind(this::read, clock::get, tasks::add);

    private Integer read() {
        pass(takes);
        meanwhile.run();
        return reads.incrementAndGet();
    }

    private void pass(Duration time) {
        clock.addAndGet(time.toNanos());
    }

    private void runTask() {
        tasks.remove(0).run();
    }

    @Test
    void nobody_waits_for_a_slow_read_while_an_answer_is_there() {
        assertThat(recent.get()).isEqualTo(1);
        pass(Duration.ofSeconds(18));
        assertThat(recent.get()).isEqualTo(1);
        assertThat(tasks).isEmpty();
        pass(Duration.ofSeconds(1));
        assertThat(recent.get()).isEqualTo(1);
        assertThat(recent.get()).isEqualTo(1);
        assertThat(tasks).hasSize(1);
        runTask();
        assertThat(recent.get()).isEqualTo(2);
        assertThat(tasks).isEmpty();
        pass(Duration.ofSeconds(19));
        assertThat(recent.get()).isEqualTo(2);
        assertThat(tasks).hasSize(1);
    }

    @Test
    void a_caller_reads_what_is_much_too_old() {
        assertThat(recent.get()).isEqualTo(1);
        pass(Duration.ofSeconds(19 + 31));
        assertThat(recent.get()).isEqualTo(2);
        assertThat(tasks).isEmpty();
    }

    @Test
    void a_quick_read_is_not_kept() {
        takes = Duration.ofMillis(10);
        assertThat(recent.get()).isEqualTo(1);
        assertThat(recent.get()).isEqualTo(2);
        assertThat(tasks).isEmpty();
    }

    @Test
    void what_was_read_before_a_change_is_not_given_after_it() {
        assertThat(recent.get()).isEqualTo(1);
        pass(Duration.ofSeconds(19));
        assertThat(recent.get()).isEqualTo(1);
        meanwhile = recent::forget;
        runTask();
        meanwhile = () -> {};
        assertThat(recent.get()).isEqualTo(3);
    }

    @Test
    void a_read_that_fails_is_told_once_the_answer_is_too_old() {
        assertThat(recent.get()).isEqualTo(1);
        pass(Duration.ofSeconds(19));
        meanwhile = () -> {
            throw new IllegalStateException("broken");
        };
        assertThat(recent.get()).isEqualTo(1);
        runTask();
        assertThat(recent.get()).isEqualTo(1);
        pass(Duration.ofSeconds(31));
        assertThatThrownBy(recent::get).hasMessage("broken");
    }

    @Test
    void each_name_has_an_answer_of_its_own_and_invented_names_use_no_memory() {
        Recent.ByName<Integer> byName = new Recent.ByName<>(reader -> Recent.behind(reader, clock::get, tasks::add));
        Recent<Integer> first = byName.of("mail", this::read);
        assertThat(first.get()).isEqualTo(1);
        assertThat(byName.of("images", this::read).get()).isEqualTo(2);
        assertThat(byName.of("mail", this::read).get()).isEqualTo(1);
        for (int i = 0; i < 99; i++) {
            byName.of("invented-" + i, this::read);
        }
        assertThat(byName.of("mail", this::read)).isNotSameAs(first);
    }
}
