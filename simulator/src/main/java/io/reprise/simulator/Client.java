// SPDX-License-Identifier: Apache-2.0
package io.reprise.simulator;

import io.reprise.retry.RetryPolicy;
import java.util.function.Function;

/** A candidate that keeps a budget of its own, as clients of request services do. */
record Client(Candidate candidate, Function<World, ClientBudget> budget) {

    static Client plain(Candidate candidate) {
        return new Client(candidate, world -> ClientBudget.UNLIMITED);
    }

    static Client plain(String name, RetryPolicy policy) {
        return plain(new Candidate(name, policy, false));
    }

    static Client budgeted(String name, RetryPolicy policy, Function<World, ClientBudget> budget) {
        return new Client(new Candidate(name, policy, false), budget);
    }
}
