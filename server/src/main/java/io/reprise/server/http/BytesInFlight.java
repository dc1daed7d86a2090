// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.http;

import java.util.HashMap;
import java.util.Map;

/**
 * Counts bytes of bodies and answers in memory, in all and per caller. A request of any size is admitted if there
 * is no other. Thread-safe.
 */
final class BytesInFlight {

    private final long most;
    private final Map<String, Long> byCaller = new HashMap<>();
    private long all;

    /**
     * Counts up to a limit.
     *
     * @param most bytes in all; three eighths of it for one caller, so that two leave something to others
     */
    BytesInFlight(long most) {
        this.most = most;
    }

    /**
     * Refuses a caller whose answers fill the memory because it does not read them.
     *
     * @throws Problem if it has twice its part
     */
    synchronized void requireRoom(String caller) {
        if (byCaller.getOrDefault(caller, 0L) > most) {
            throw tooMany();
        }
    }

    /**
     * Counts bytes before they are read, or before they are sent.
     *
     * @throws Problem if there are too many already
     */
    synchronized void take(String caller, long bytes) {
        long own = byCaller.getOrDefault(caller, 0L);
        if (own > 0 && own + bytes > most * 3 / 8) {
            throw tooMany();
        }
        if (all > 0 && all + bytes > most) {
            throw Problem.of(ProblemType.UNAVAILABLE, "Too many bytes are on their way")
                    .header("Retry-After", "1");
        }
        add(caller, bytes);
    }

    private static Problem tooMany() {
        return Problem.of(
                        ProblemType.TOO_MANY_REQUESTS,
                        "Too many bytes are on their way under this key: send fewer or smaller requests at once, and read"
                                + " their answers")
                .header("Retry-After", "1");
    }

    /** Counts bytes that are already there, even if they are too many. */
    synchronized void add(String caller, long bytes) {
        all += bytes;
        byCaller.merge(caller, bytes, Long::sum);
    }

    synchronized void release(String caller, long bytes) {
        all -= bytes;
        byCaller.computeIfPresent(caller, (name, own) -> own == bytes ? null : own - bytes);
    }

    synchronized long all() {
        return all;
    }
}
