// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.search;

import io.reprise.batch.Membership;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobQuery;
import io.reprise.job.JobState;
import io.reprise.job.JobStatus;
import io.reprise.job.WaitReason;
import io.reprise.server.auth.Tenancy;
import io.reprise.server.config.Durations;
import io.reprise.server.http.Problem;
import io.reprise.server.search.SearchTerms.Term;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A search for jobs in one line, such as {@code state:failed type:bill error:"connection refused" attempt:>3}. A part of
 * it is a query that the store answers; the rest is a test of each job that the store returns.
 */
public final class JobSearch {

    /** Longer texts are refused. */
    public static final int MAX_LENGTH = 500;

    private static final List<String> NAMES = List.of(
            "id",
            "state",
            "type",
            "queue",
            "resource",
            "group",
            "tag",
            "schedule",
            "batch",
            "error",
            "reason",
            "attempt",
            "due",
            "since",
            "before");

    private final Tenancy tenancy;
    private final Instant now;
    private final List<Predicate<Job>> tests = new ArrayList<>();
    private JobQuery query;
    private @Nullable JobId id;

    private JobSearch(JobQuery base, Tenancy tenancy, Instant now) {
        this.query = base;
        this.tenancy = tenancy;
        this.now = now;
    }

    /**
     * Reads a search.
     *
     * @param base restricts what can be found
     * @throws Problem if the search cannot be read
     */
    public static JobSearch parse(String text, JobQuery base, Tenancy tenancy, Instant now) {
        JobSearch search = new JobSearch(base, tenancy, now);
        SearchTerms.of(text).forEach(search::add);
        return search;
    }

    /** Returns the part that the store answers. */
    public JobQuery query() {
        return query;
    }

    /** Returns the one job that was asked for by id; null if none was. */
    public @Nullable JobId id() {
        return id;
    }

    /** Whether the store answers the whole search. */
    public boolean isQuery() {
        return id == null && tests.isEmpty();
    }

    /** Whether a job that the query found also passes the rest. */
    public boolean matches(Job job) {
        return tests.stream().allMatch(test -> test.test(job));
    }

    private void add(Term term) {
        String name = term.name();
        if (name == null) {
            free(term);
            return;
        }
        switch (name.toLowerCase(Locale.ROOT)) {
            case "id" -> byId(term);
            case "state" -> states(term);
            case "type" -> named(term, Job::type, value -> value, JobQuery::type);
            case "queue" -> named(term, Job::queue, value -> tenancy.stored("q", value), JobQuery::queue);
            case "resource" ->
                named(term, job -> job.spec().resource(), value -> tenancy.stored("q", value), JobQuery::resource);
            case "schedule" ->
                named(term, job -> job.spec().schedule(), value -> tenancy.stored("q", value), JobQuery::schedule);
            // What tells a job's batch is left out of lists, so only the store can answer it.
            case "batch" -> query = ask(batch(only(term)), JobQuery::batch);
            case "group" -> test(term, value -> job -> value.equals(job.spec().group()));
            case "tag" -> tag(term);
            case "error" -> error(term);
            case "reason" -> reason(term);
            case "attempt" -> test(term, value -> attempts(value));
            case "due" -> test(term, this::due);
            case "since" -> query = query.createdFrom(time(term));
            case "before" -> query = query.createdBefore(time(term));
            default -> throw wrong("has no qualifier '" + name + "'; there are " + String.join(", ", NAMES));
        }
    }

    private void free(Term term) {
        String text = term.values().get(0);
        if (text.matches("[1-9][0-9]{0,17}") && !term.not()) {
            one(new JobId(Long.parseLong(text)));
        } else {
            test(
                    term,
                    value -> job -> contains(job.spec().key(), value)
                            || job.spec().tags().contains(value)
                            || contains(errorText(job), value));
        }
    }

    private void byId(Term term) {
        String text = only(term);
        try {
            one(JobId.parse(text));
        } catch (IllegalArgumentException e) {
            throw wrong("needs a number after id:");
        }
    }

    /** No job has two ids. */
    private void one(JobId asked) {
        if (id != null && !id.equals(asked)) {
            tests.add(job -> false);
        }
        id = asked;
    }

    private void states(Term term) {
        Set<JobState> states = EnumSet.noneOf(JobState.class);
        term.values().forEach(value -> states.add(constant(JobState.class, value)));
        Set<JobState> wanted = term.not() ? EnumSet.complementOf(EnumSet.copyOf(states)) : states;
        if (!query.states().isEmpty()) {
            wanted.retainAll(query.states());
        }
        if (wanted.isEmpty()) {
            tests.add(job -> false);
        } else {
            JobState[] all = wanted.toArray(JobState[]::new);
            query = query.state(all[0], all);
        }
    }

    /** The function with which a query asks for a name. */
    private interface Ask {
        JobQuery ask(JobQuery query, String value);
    }

    /** One name is asked of the store; several, or one that must not be, are tested here. */
    private void named(Term term, Function<Job, @Nullable String> of, Function<String, String> stored, Ask ask) {
        if (term.not() || term.values().size() > 1) {
            Set<String> names = term.values().stream().map(stored).collect(Collectors.toSet());
            tests.add(job -> term.not() != names.contains(Objects.requireNonNullElse(of.apply(job), "")));
        } else {
            query = ask(stored.apply(only(term)), ask);
        }
    }

    private JobQuery ask(String value, Ask ask) {
        try {
            return ask.ask(query, value);
        } catch (IllegalArgumentException e) {
            throw wrong("has a name that cannot be: " + e.getMessage());
        }
    }

    /** The batch of a join has no tenant in its name; which of its jobs may be seen is decided by their queues. */
    private String batch(String name) {
        return Membership.isJoin(name) ? name : tenancy.stored("q", name);
    }

    private void tag(Term term) {
        if (term.not() || term.values().size() > 1) {
            tests.add(job ->
                    term.not() != term.values().stream().anyMatch(job.spec().tags()::contains));
        } else {
            query = ask(only(term), JobQuery::tag);
        }
    }

    /** Hexadecimal digits are a fingerprint; anything else is looked for in the text of the last error. */
    private void error(Term term) {
        if (!term.not() && term.values().size() == 1 && only(term).matches("[0-9a-f]{8,64}")) {
            query = ask(only(term), JobQuery::fingerprint);
        } else {
            test(term, value -> job -> contains(errorText(job), value));
        }
    }

    private void reason(Term term) {
        test(term, value -> {
            WaitReason reason = constant(WaitReason.class, value);
            return job -> job.state() == JobState.PENDING && job.status().waitReason() == reason;
        });
    }

    private static Predicate<Job> attempts(String text) {
        int digits = 0;
        while (digits < text.length() && "<>=".indexOf(text.charAt(digits)) >= 0) {
            digits++;
        }
        String sign = text.substring(0, digits);
        try {
            int number = Integer.parseInt(text.substring(digits));
            return switch (sign) {
                case ">" -> job -> job.attempts() > number;
                case ">=" -> job -> job.attempts() >= number;
                case "<" -> job -> job.attempts() < number;
                case "<=" -> job -> job.attempts() <= number;
                case "", "=" -> job -> job.attempts() == number;
                default -> throw wrong("needs a number after attempt:, such as >3");
            };
        } catch (NumberFormatException e) {
            throw wrong("needs a number after attempt:, such as >3");
        }
    }

    /** Due within a time, or later than that. */
    private Predicate<Job> due(String text) {
        boolean later = text.startsWith(">");
        Instant edge = now.plus(duration(text.replaceFirst("^[<>]", ""), "due"));
        return job -> {
            Instant at = job.times().dueAt();
            return job.state() == JobState.PENDING && at != null && at.isAfter(edge) == later;
        };
    }

    private Instant time(Term term) {
        String text = only(term);
        try {
            return Instant.parse(text);
        } catch (DateTimeParseException e) {
            return now.minus(duration(text, String.valueOf(term.name())));
        }
    }

    private static Duration duration(String text, String name) {
        try {
            return Durations.parse(text);
        } catch (IllegalArgumentException e) {
            throw wrong("needs a time or a duration such as 1h after " + name + ":");
        }
    }

    private void test(Term term, Function<String, Predicate<Job>> make) {
        List<Predicate<Job>> any = term.values().stream().map(make).toList();
        tests.add(job -> term.not() != any.stream().anyMatch(test -> test.test(job)));
    }

    private static String only(Term term) {
        String value = term.values().get(0);
        if (term.values().size() > 1 || term.not() || value.isEmpty()) {
            throw wrong("needs one value after " + term.name() + ":");
        }
        return value;
    }

    private static boolean contains(@Nullable String text, String part) {
        return text != null && text.toLowerCase(Locale.ROOT).contains(part.toLowerCase(Locale.ROOT));
    }

    private static @Nullable String errorText(Job job) {
        JobStatus.LastError error = job.status().lastError();
        return error == null ? null : error.type() + " " + error.message();
    }

    private static <E extends Enum<E>> E constant(Class<E> type, String name) {
        try {
            return Enum.valueOf(type, name.toUpperCase(Locale.ROOT).replace('-', '_'));
        } catch (IllegalArgumentException e) {
            throw wrong("has '" + name + "' where one of " + Arrays.toString(type.getEnumConstants()) + " can be");
        }
    }

    private static Problem wrong(String text) {
        return Problem.invalid("q", text);
    }
}
