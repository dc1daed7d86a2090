// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.upkeep;

import com.cronutils.model.Cron;
import com.cronutils.model.CronType;
import com.cronutils.model.definition.CronDefinition;
import com.cronutils.model.definition.CronDefinitionBuilder;
import com.cronutils.model.time.ExecutionTime;
import com.cronutils.parser.CronParser;
import io.reprise.Schedule;
import io.reprise.Schedule.MissedFire;
import io.reprise.job.JobSpec;
import io.reprise.job.RepriseException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.zone.ZoneOffsetTransition;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * When a schedule fires, parsed from its stored text: {@code cron|0 3 * * *|Europe/Paris|ONCE|false} or
 * {@code every|PT5M|UTC|ONCE|false}. {@code Reprise} writes and previews it; the {@code ScheduleFirer} computes the
 * next firing with it. Immutable.
 */
public final class ScheduleRule {

    private static final CronDefinition FIVE_FIELDS = CronDefinitionBuilder.instanceDefinitionFor(CronType.UNIX);
    private static final CronDefinition SIX_FIELDS = CronDefinitionBuilder.instanceDefinitionFor(CronType.SPRING53);

    private static final Duration SHORTEST = Duration.ofSeconds(1);
    private static final int MAX_SHOWN = 500;

    private final @Nullable ExecutionTime cron;
    private final boolean everyHour;
    private final Duration every;
    private final ZoneId zone;
    final MissedFire missed;
    final boolean overlap;

    private ScheduleRule(String[] parts) {
        boolean isCron = parts[0].equals("cron");
        this.cron = isCron ? cron(parts[1]) : null;
        this.everyHour = isCron && everyHour(parts[1]);
        this.every = isCron ? Duration.ZERO : interval(parts[1]);
        this.zone = ZoneId.of(parts[2]);
        this.missed = MissedFire.valueOf(parts[3]);
        this.overlap = Boolean.parseBoolean(parts[4]);
    }

    /**
     * Returns the text to store.
     *
     * @throws IllegalArgumentException if the cron expression cannot be read
     */
    public static String text(Schedule schedule) {
        String kind = schedule.cron() == null ? "every|" + schedule.every() : "cron|" + schedule.cron();
        String text = kind + "|" + schedule.zone().getId() + "|" + schedule.missed() + "|" + schedule.overlap();
        parse(schedule.name(), text);
        return text;
    }

    /**
     * Checks a cron expression.
     *
     * @throws IllegalArgumentException if it cannot be read
     */
    public static void requireCron(String name, String expression) {
        parse(name, "cron|" + expression + "|UTC|" + MissedFire.ONCE + "|false");
    }

    public static ScheduleRule parse(String name, String text) {
        String[] parts = text.split("\\|", -1);
        try {
            if (parts.length != 5) {
                throw new IllegalArgumentException("expected 5 parts");
            }
            return new ScheduleRule(parts);
        } catch (RuntimeException e) {
            // The cron parser throws more exception types than it documents.
            throw new IllegalArgumentException(
                    "schedule '" + name + "' cannot be read: '" + shown(parts[1 % parts.length]) + "': "
                            + shown(String.valueOf(e.getMessage())),
                    e);
        }
    }

    private static String shown(String text) {
        return text.length() <= MAX_SHOWN ? text : text.substring(0, MAX_SHOWN) + "…";
    }

    private static Duration interval(String text) {
        Duration every = Duration.parse(text);
        if (every.compareTo(SHORTEST) < 0 || every.compareTo(JobSpec.MAX_DELAY) > 0) {
            throw new IllegalArgumentException("an interval must be " + SHORTEST + " to " + JobSpec.MAX_DELAY);
        }
        return every;
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

    /** Returns the first firing after {@code after}. For an interval, {@code last} is a firing to count from. */
    public Instant next(Instant last, Instant after) {
        if (cron == null) {
            long missedIntervals = Math.max(0, Duration.between(last, after).dividedBy(every));
            Instant next = last.plus(every.multipliedBy(missedIntervals));
            return next.isAfter(after) ? next : next.plus(every);
        }
        return everyHour ? nextThroughJumps(cron, after) : nextByWallClock(cron, after);
    }

    /** Returns the first firing and those that follow. A cron that ends has fewer. */
    public List<Instant> upcoming(Instant first, int count) {
        List<Instant> all = new ArrayList<>(List.of(first));
        try {
            while (all.size() < count) {
                Instant last = all.get(all.size() - 1);
                all.add(next(last, last));
            }
        } catch (RepriseException e) {
            return all;
        }
        return all;
    }

    /*
     * The cron is evaluated on the wall clock, as if it never jumped, and the result is then placed in the zone. That
     * way a time in the spring gap is not skipped but fires at the first instant after it, and a time that the autumn
     * repeats fires once.
     */
    private Instant nextByWallClock(ExecutionTime times, Instant after) {
        LocalDateTime wall = LocalDateTime.ofInstant(after, zone);
        ZoneOffsetTransition jump = zone.getRules().previousTransition(after.plusNanos(1));
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
        ZoneOffset offset = zone.getRules().getOffset(after);
        Instant next = following(times, LocalDateTime.ofInstant(after, offset)).toInstant(offset);
        ZoneOffsetTransition jump = zone.getRules().nextTransition(after);
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
        ZoneOffsetTransition gap = zone.getRules().getTransition(wall);
        if (gap != null && gap.isGap()) {
            return gap.getInstant();
        }
        return wall.atZone(zone).withEarlierOffsetAtOverlap().toInstant();
    }
}
