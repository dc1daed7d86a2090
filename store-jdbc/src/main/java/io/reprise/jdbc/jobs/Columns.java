// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.jobs;

import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * The column lists that several statements share, each in the order in which it is bound and read. They all follow from
 * the columns of a spec, which {@link SpecColumns} names.
 */
public final class Columns {

    private static final String SPEC = String.join(", ", SpecColumns.NAMES);

    /** Counters and times that end the columns of a shown and of a claimed job. */
    private static final List<String> COUNTS = List.of("attempts", "losses", "interruptions", "snoozes", "granted");

    private static final List<String> ERROR =
            List.of("error_type", "error_message", "fingerprint", "progress", "progress_message");

    /** The columns that {@link JobRows} reads from a view of jobs. */
    private static final String SHOW = "id, " + SPEC + ", state, wait_reason, fail_reason, " + of("", ERROR)
            + ", result, worker, holder, cancel_requested, " + of("", COUNTS)
            + ", created_at, first_due_at, due_at, deadline, started_at, finished_at, last_delay_us";

    /** The columns that {@link JobRows#claimed} reads of a job {@code j}. */
    private static final String CLAIMED = "j.lane, j.due_at, j.id, " + of("j.", SpecColumns.NAMES) + ", "
            + of("j.", ERROR) + ", j.cancel_requested, " + of("j.", COUNTS)
            + ", j.created_at, j.first_due_at, j.deadline, j.last_delay_us, j.wait_reason";

    /** The columns of {@link #SHOW} for a job {@code j} under a lease {@code l}, followed by the wait reason. */
    private static final String CLAIMED_SHOWN = "j.id, " + of("j.", SpecColumns.NAMES) + ", 'RUNNING', null, null, "
            + of("j.", ERROR) + ", null, l.worker, l.id, j.cancel_requested, " + of("j.", COUNTS)
            + ", j.created_at, j.first_due_at, null, j.deadline, l.claimed_at, null, j.last_delay_us, j.wait_reason";

    /** The columns that live and finished jobs share beside the spec. */
    private static final List<String> BOTH =
            List.of("id", "first_due_at", "created_at", "deadline", "progress", "progress_message", "granted");

    /**
     * The words for these lists in statements.
     *
     * <ul>
     *   <li>{@code spec}, {@code both}: the columns of a spec, and those that live and finished jobs share beside it.
     *       {@code d_spec}, {@code d_both}: the same of a table {@code d}. {@code settled_spec}: the same after a
     *       settlement {@code i}, which may have other tags.
     *   <li>{@code spec_values}, {@code spec_params}: placeholders for the columns of a spec, by position and by name.
     *       {@code spec_casts}: by name, for places where the database cannot infer the type of a value. {@code spec_set}, {@code spec_new}: assignments of these columns, from
     *       bound values and from the row that an insert could not store.
     *   <li>{@code show}: what a list of jobs reads from a view. {@code brief}: the same without payload, chain and result.
     *   <li>{@code claimed}, {@code claimed_shown}: what a claim reads of a job {@code j}.
     * </ul>
     */
    public static final Map<String, String> WORDS = Map.ofEntries(
            Map.entry("spec", SPEC),
            Map.entry("d_spec", of("d.", SpecColumns.NAMES)),
            Map.entry("settled_spec", of("d.", SpecColumns.NAMES).replace("d.tags", "coalesce(i.tags, d.tags)")),
            Map.entry("spec_values", String.join(", ", Collections.nCopies(SpecColumns.NAMES.size(), "?"))),
            Map.entry("spec_params", of(":", SpecColumns.NAMES)),
            Map.entry("spec_casts", casts()),
            Map.entry("spec_set", assignments(":", "")),
            Map.entry("spec_new", assignments("{new.", "}")),
            Map.entry("show", SHOW),
            Map.entry(
                    "brief",
                    SHOW.replace(" payload,", " 'null' as payload,")
                            .replace(" chain,", " null as chain,")
                            .replace(" result,", " null as result,")),
            Map.entry("claimed", CLAIMED),
            Map.entry("claimed_shown", CLAIMED_SHOWN),
            Map.entry("both", of("", BOTH)),
            Map.entry("d_both", of("d.", BOTH)));

    private Columns() {}

    private static String assignments(String before, String after) {
        return SpecColumns.NAMES.stream()
                .map(name -> name + " = " + before + name + after)
                .collect(Collectors.joining(", "));
    }

    private static String casts() {
        return IntStream.range(0, SpecColumns.NAMES.size())
                .mapToObj(i -> SpecColumns.KINDS.get(i).cast(":" + SpecColumns.NAMES.get(i)))
                .collect(Collectors.joining(", "));
    }

    private static String of(String prefix, List<String> names) {
        return names.stream().map(name -> prefix + name).collect(Collectors.joining(", "));
    }
}
