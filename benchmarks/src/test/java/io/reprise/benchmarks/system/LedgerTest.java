// SPDX-License-Identifier: Apache-2.0
package io.reprise.benchmarks.system;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.reprise.benchmarks.measure.Payloads;
import org.junit.jupiter.api.Test;

class LedgerTest {

    @Test
    void a_payload_has_a_hundred_characters_and_gives_its_number_back() {
        assertThat(Payloads.of(123_456)).hasSize(100);
        assertThat(Payloads.number(Payloads.of(123_456))).isEqualTo(123_456);
    }

    @Test
    void a_job_that_ran_twice_is_found() throws Exception {
        Ledger ledger = new Ledger(2, 0);
        ledger.run(Payloads.of(0));
        ledger.run(Payloads.of(1));
        assertThatCode(ledger::check).doesNotThrowAnyException();

        ledger.run(Payloads.of(1));

        assertThatThrownBy(ledger::check).hasMessage("job 1 ran 2 times, not 1");
    }

    @Test
    void a_job_that_never_ran_is_found() {
        assertThatThrownBy(() -> new Ledger(1, 0).check()).hasMessage("job 0 ran 0 times, not 1");
    }

    @Test
    void first_runs_fail_if_asked_to() throws Exception {
        Ledger ledger = new Ledger(1, 1);

        assertThatThrownBy(() -> ledger.run(Payloads.of(0))).isInstanceOf(Ledger.Failed.class);
        assertThat(ledger.isDone()).isFalse();
        ledger.run(Payloads.of(0));

        assertThat(ledger.isDone()).isTrue();
        ledger.check();
    }
}
