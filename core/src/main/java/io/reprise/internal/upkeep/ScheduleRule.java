// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.upkeep;

import static java.time.Duration.ZERO;

import com.cronutils.model.Cron;
import com.cronutils.model.CronType;
import com.cronutils.model.definition.CronDefinition;
import com.cronutils.model.definition.CronDefinitionBuilder;
import com.cronutils.model.time.ExecutionTime;
import com.cronutils.parser.CronParser;
import io.reprise.Schedule;
import io.reprise.Schedule.MissedFire;
import io.reprise.Schedule.Span;
import io.reprise.Schedule.Timing;
import io.reprise.job.JobSpec;
import io.reprise.job.RepriseException;
import io.reprise.job.StoredSchedule;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.zone.ZoneOffsetTransition;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * When a schedule fires, parsed from its stored text: {@code cron|0 3 * * *|Europe/Paris|ONCE|false},
 * {@code every|PT5M|UTC|ONCE|false} or {@code delay|PT5M|UTC|ONCE|false}. Parts such as {@code |start=…|end=…|jitter=…|now}
 * follow only if they are set. {@code Reprise} writes and previews it; the {@code ScheduleFirer} computes the next
 * firing with it. Immutable.
 */
public final class ScheduleRule {

    private static final CronDefinition FIVE_FIELDS = CronDefinitionBuilder.instanceDefinitionFor(CronType.UNIX);
    private static final CronDefinition SIX_FIELDS = CronDefinitionBuilder.instanceDefinitionFor(CronType.SPRING53);

    private static final Duration SHORTEST = Duration.ofSeconds(1);
    private static final Duration WIDEST_OF_CRON = Duration.ofHours(24);
    private static final Instant EARLIEST = Instant.EPOCH;
    private static final Instant LATEST = Instant.parse("9998-12-31T23:59:59Z");
    private static final int FIXED_PARTS = 5;
    private static final int MAX_SHOWN = 500;

    private final @Nullable ExecutionTime cron;
    private final boolean everyHour;
    private final Timing timing;

    /** Interval or fixed delay; zero for a cron. */
    private final Duration step;

    private ScheduleRule(Timing timing) {
        this.timing = timing;
        this.cron = timing.cron() == null ? null : cron(timing.cron());
        this.everyHour = timing.cron() != null && everyHour(timing.cron());
        this.step = timing.every() != null ? timing.every() : Objects.requireNonNullElse(timing.fixedDelay(), ZERO);
    }

    /** Returns the text to store. */
    public static String text(Schedule schedule) {
        Timing timing = schedule.timing();
        StringBuilder text = new StringBuilder();
        if (timing.cron() != null) {
            text.append("cron|").append(timing.cron());
        } else if (timing.every() != null) {
            text.append("every|").append(timing.every());
        } else {
            text.append("delay|").append(timing.fixedDelay());
        }
        text.append('|').append(timing.zone().getId());
        text.append('|').append(timing.missed());
        text.append('|').append(timing.overlap());
        Span span = timing.span();
        if (span.start() != null) {
            text.append("|start=").append(span.start());
        }
        if (span.end() != null) {
            text.append("|end=").append(span.end());
        }
        if (!span.jitter().isZero()) {
            text.append("|jitter=").append(span.jitter());
        }
        return text.append(span.firstNow() ? "|now" : "").toString();
    }

    /**
     * Checks what a person wrote.
     *
     * @throws IllegalArgumentException if the cron expression cannot be read, or a value is out of its bounds
     */
    public static void check(String name, Timing timing) {
        String schedule = "schedule '" + name + "'";
        requireOneKind(schedule, timing);
        Duration step = timing.every() != null ? timing.every() : timing.fixedDelay();
        if (step != null) {
            String field = timing.every() != null ? "interval" : "fixed delay";
            within(field + " of " + schedule, step, SHORTEST, JobSpec.MAX_DELAY);
        }
        Span span = timing.span();
        within("jitter of " + schedule, span.jitter(), ZERO, step == null ? WIDEST_OF_CRON : step);
        within("start of " + schedule, span.start());
        within("end of " + schedule, span.end());
        if (span.start() != null && span.end() != null && !span.start().isBefore(span.end())) {
            throw new IllegalArgumentException(
                    "end of " + schedule + " must be after its start " + span.start() + ", not " + span.end());
        }
        if (timing.fixedDelay() != null && timing.missed() != MissedFire.ONCE) {
            throw new IllegalArgumentException(
                    schedule + " counts from the end of its last job, so it misses nothing: missed must be ONCE, not "
                            + timing.missed());
        }
        if (timing.fixedDelay() != null && timing.overlap()) {
            throw new IllegalArgumentException(schedule + " counts from the end of its last job, so it cannot overlap");
        }
    }

    private static void requireOneKind(String schedule, Timing timing) {
        long kinds = Stream.of(timing.cron(), timing.every(), timing.fixedDelay())
                .filter(Objects::nonNull)
                .count();
        if (kinds != 1) {
            throw new IllegalArgumentException(
                    schedule + " needs exactly one of a cron expression, an interval and a fixed delay, not " + kinds);
        }
        if (timing.cron() != null) {
            try {
                if (timing.cron().indexOf('|') >= 0) {
                    throw new IllegalArgumentException("no cron expression has the character |");
                }
                if (cron(timing.cron())
                        .nextExecution(EARLIEST.atZone(ZoneOffset.UTC))
                        .isEmpty()) {
                    throw new IllegalArgumentException("no year has such a date, so it never fires");
                }
            } catch (RuntimeException e) {
                // The cron parser throws more exception types than it documents.
                throw unreadable(schedule, timing.cron(), e);
            }
        }
    }

    private static void within(String field, Duration value, Duration least, Duration most) {
        if (value.compareTo(least) < 0 || value.compareTo(most) > 0) {
            throw new IllegalArgumentException(field + " must be " + least + " to " + most + ", not " + value);
        }
    }

    private static void within(String field, @Nullable Instant time) {
        if (time != null && (time.isBefore(EARLIEST) || time.isAfter(LATEST))) {
            throw new IllegalArgumentException(field + " must be " + EARLIEST + " to " + LATEST + ", not " + time);
        }
    }

    /**
     * Reads a stored text.
     *
     * @throws IllegalArgumentException if it cannot be read
     */
    public static ScheduleRule parse(String name, String text) {
        String[] parts = text.split("\\|", -1);
        try {
            if (parts.length < FIXED_PARTS) {
                throw new IllegalArgumentException("expected " + FIXED_PARTS + " parts or more");
            }
            Timing timing = timing(parts);
            check(name, timing);
            return new ScheduleRule(timing);
        } catch (RuntimeException e) {
            throw unreadable("schedule '" + name + "'", parts[1 % parts.length], e);
        }
    }

    private static IllegalArgumentException unreadable(String schedule, String text, RuntimeException e) {
        return new IllegalArgumentException(
                schedule + " cannot be read: '" + shown(text) + "': " + shown(String.valueOf(e.getMessage())), e);
    }

    private static Timing timing(String[] parts) {
        Span span = new Span(false, null, null, ZERO);
        for (String part : List.of(parts).subList(FIXED_PARTS, parts.length)) {
            span = span(span, part);
        }
        return new Timing(
                parts[0].equals("cron") ? parts[1] : null,
                parts[0].equals("every") ? Duration.parse(parts[1]) : null,
                parts[0].equals("delay") ? Duration.parse(parts[1]) : null,
                ZoneId.of(parts[2]),
                MissedFire.valueOf(parts[3]),
                Boolean.parseBoolean(parts[4]),
                span);
    }

    private static Span span(Span span, String part) {
        String value = part.substring(part.indexOf('=') + 1);
        return switch (part.substring(0, part.length() - value.length())) {
            case "start=" -> new Span(span.firstNow(), Instant.parse(value), span.end(), span.jitter());
            case "end=" -> new Span(span.firstNow(), span.start(), Instant.parse(value), span.jitter());
            case "jitter=" -> new Span(span.firstNow(), span.start(), span.end(), Duration.parse(value));
            default -> {
                if (!part.equals("now")) {
                    throw new IllegalArgumentException("unknown part '" + shown(part) + "'");
                }
                yield new Span(true, span.start(), span.end(), span.jitter());
            }
        };
    }

    public Timing timing() {
        return timing;
    }

    private static String shown(String text) {
        return text.length() <= MAX_SHOWN ? text : text.substring(0, MAX_SHOWN) + "…";
    }

    /**
     * A wildcard in the hours means an interval, not a time of day. Such a cron keeps its interval
     * when the zone's clock jumps.
     */
    private static boolean everyHour(String expression) {
        List<String> fields = List.of(expression.trim().split("\\s+", -1));
        return fields.get(fields.size() == 6 ? 2 : 1).startsWith("*");
    }

    private static ExecutionTime cron(String expression) {
        int fields = expression.trim().split("\\s+").length;
        if (fields != 5 && fields != 6) {
            throw new IllegalArgumentException(
                    "a cron expression has five fields, or six with seconds first, not " + fields);
        }
        Cron cron = new CronParser(fields == 6 ? SIX_FIELDS : FIVE_FIELDS).parse(expression.trim());
        return ExecutionTime.forCron(cron.validate());
    }

    /** Returns the first firing of a schedule that is stored now; {@link StoredSchedule#NEVER} if it has ended. */
    public Instant first(Instant now) {
        Instant start = timing.span().start();
        if (start != null && start.isAfter(now)) {
            return untilEnd(cron == null || timing.span().firstNow() ? start : cronAfter(start.minusNanos(1)));
        }
        return timing.span().firstNow() ? untilEnd(now) : next(now, now);
    }

    /**
     * Returns the first firing after {@code after}; {@link StoredSchedule#NEVER} if there is none. For an interval
     * without a start, {@code last} is a firing to count from.
     */
    public Instant next(Instant last, Instant after) {
        if (cron != null) {
            return untilEnd(cronAfter(after));
        }
        if (timing.fixedDelay() != null) {
            return untilEnd(after.plus(step));
        }
        Instant from = Objects.requireNonNullElse(timing.span().start(), last);
        long missedIntervals = Math.max(0, Duration.between(from, after).dividedBy(step));
        Instant next = from.plus(step.multipliedBy(missedIntervals));
        return untilEnd(next.isAfter(after) ? next : next.plus(step));
    }

    private Instant cronAfter(Instant after) {
        ExecutionTime times = Objects.requireNonNull(cron);
        try {
            return everyHour ? nextThroughJumps(times, after) : nextByWallClock(times, after);
        } catch (RepriseException e) {
            return StoredSchedule.NEVER;
        }
    }

    private Instant untilEnd(Instant next) {
        Instant end = timing.span().end();
        return end != null && next.isAfter(end) ? StoredSchedule.NEVER : next;
    }

    /** Returns how much later than its firing a job becomes due: always as much for this name and firing. */
    Duration jitter(String name, Instant firing) {
        long most = timing.span().jitter().toMillis();
        long seed = firing.toEpochMilli() * 31 + name.hashCode();
        return most == 0 ? ZERO : Duration.ofMillis(new SplittableRandom(seed).nextLong(most + 1));
    }

    /** Returns the first firing and those that follow. A schedule that ends has fewer. */
    public List<Instant> upcoming(Instant first, int count) {
        List<Instant> all = new ArrayList<>();
        Instant next = first;
        while (all.size() < Math.max(1, count) && next.isBefore(StoredSchedule.NEVER)) {
            all.add(next);
            next = next(next, next);
        }
        return all;
    }

    /*
     * The cron is evaluated on the wall clock, as if it never jumped, and the result is then placed in the zone. That
     * way a time in the spring gap is not skipped but fires at the first instant after it, and a time that the autumn
     * repeats fires once.
     */
    private Instant nextByWallClock(ExecutionTime times, Instant after) {
        LocalDateTime wall = LocalDateTime.ofInstant(after, timing.zone());
        ZoneOffsetTransition jump = timing.zone().getRules().previousTransition(after.plusNanos(1));
        if (jump != null && jump.isOverlap() && wall.isBefore(jump.getDateTimeBefore())) {
            // In the repeated hour: its firings happened the first time.
            wall = jump.getDateTimeBefore().minusNanos(1);
        }
        Instant next = after;
        while (!next.isAfter(after)) {
            wall = following(times, wall);
            next = instant(wall);
        }
        return next;
    }

    /** Between two jumps of the zone's clock, the wall clock is time with a fixed offset. */
    private Instant nextThroughJumps(ExecutionTime times, Instant after) {
        ZoneOffset offset = timing.zone().getRules().getOffset(after);
        Instant next = following(times, LocalDateTime.ofInstant(after, offset)).toInstant(offset);
        ZoneOffsetTransition jump = timing.zone().getRules().nextTransition(after);
        if (jump == null || next.isBefore(jump.getInstant())) {
            return next;
        }
        LocalDateTime landing = jump.getDateTimeAfter().minusNanos(1);
        return following(times, landing).toInstant(jump.getOffsetAfter());
    }

    private static LocalDateTime following(ExecutionTime times, LocalDateTime wall) {
        return times.nextExecution(wall.atZone(ZoneOffset.UTC))
                .orElseThrow(() -> new RepriseException("The cron expression has no further firing after " + wall))
                .toLocalDateTime();
    }

    private Instant instant(LocalDateTime wall) {
        ZoneOffsetTransition gap = timing.zone().getRules().getTransition(wall);
        if (gap != null && gap.isGap()) {
            return gap.getInstant();
        }
        return wall.atZone(timing.zone()).withEarlierOffsetAtOverlap().toInstant();
    }
}
