// SPDX-License-Identifier: Apache-2.0
package io.reprise.cli;

import io.reprise.server.client.Link;
import io.reprise.server.client.ServerTarget;
import io.reprise.server.config.Durations;
import java.time.Duration;
import tools.jackson.databind.JsonNode;

/** Waits for the end of a job, longer than one request to the API may wait. */
final class Await {

    private static final Duration AT_ONCE = Duration.ofSeconds(30);

    private final Link link;

    Await(Link link) {
        this.link = link;
    }

    /** Returns the job when it has ended, or when the time is up. */
    JsonNode job(String id, Duration limit) {
        long until = System.nanoTime() + limit.toNanos();
        while (true) {
            Duration left = Duration.ofNanos(Math.max(0, until - System.nanoTime()));
            Duration wait = left.compareTo(AT_ONCE) < 0 ? left : AT_ONCE;
            JsonNode job = link.get(ServerTarget.of("jobs", id, "result").with("wait", Durations.text(wait)));
            if (!job.path("finishedAt").isNull() || System.nanoTime() - until >= 0) {
                return job;
            }
        }
    }
}
