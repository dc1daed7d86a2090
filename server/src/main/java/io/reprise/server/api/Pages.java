// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.api;

import io.reprise.Job;
import io.reprise.Reprise;
import io.reprise.server.http.Problem;
import io.reprise.store.JobQuery;
import io.reprise.store.Page;

/** Pages of jobs. */
final class Pages {

    private Pages() {}

    /** @throws Problem if the cursor is none */
    static Page<Job> find(Reprise reprise, JobQuery query) {
        try {
            return reprise.find(query);
        } catch (IllegalArgumentException e) {
            throw Problem.invalid("cursor", "is not one that a page called next");
        }
    }
}
