// SPDX-License-Identifier: Apache-2.0
package io.reprise.testkit;

import io.reprise.JobSpec;
import java.util.Collections;
import java.util.List;

/** Specs to insert. */
public final class Jobs {

    private Jobs() {}

    /** Returns an ordinary job of the default queue, due at once. */
    public static JobSpec.Builder spec(String type) {
        return JobSpec.builder(type, "{}");
    }

    public static JobSpec.Builder on(String queue) {
        return spec("work").queue(queue);
    }

    public static List<JobSpec> many(int count) {
        return Collections.nCopies(count, spec("work").build());
    }
}
