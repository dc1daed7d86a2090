// SPDX-License-Identifier: Apache-2.0
package io.reprise.simulator.experiment;

import io.reprise.retry.RetryPolicy;
import io.reprise.simulator.Candidate;
import io.reprise.simulator.ClientBudget;
import io.reprise.simulator.World;
import java.util.function.Function;

/** A candidate with its own budget, as clients of request services have. */
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
