// SPDX-License-Identifier: Apache-2.0
package io.reprise.cli.policy;

import io.reprise.cli.base.BadInput;
import io.reprise.retry.Backoff;
import io.reprise.retry.CapOrder;
import io.reprise.retry.Jitter;
import io.reprise.retry.RetryPolicy;
import io.reprise.retry.Rounding;
import io.reprise.server.config.Durations;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/**
 * One option for every field of a policy. Together they form a layer above the preset or file, as a job's policy is
 * a layer above its type's.
 */
final class PolicyOptions {

    /** The backoff curves that a user can name. */
    enum Shape {
        EXPONENTIAL,
        LINEAR,
        FIXED,
        TABLE
    }

    @Option(names = "--max-attempts", paramLabel = "N|unlimited", description = "Runs in total, the first included.")
    @Nullable
    String maxAttempts;

    @Option(names = "--max-retries", paramLabel = "N", description = "Runs after the first.")
    @Nullable
    Integer maxRetries;

    @Option(
            names = "--shape",
            paramLabel = "SHAPE",
            converter = ShapeName.class,
            description = "exponential, linear, fixed or table.")
    @Nullable
    Shape shape;

    @Option(names = "--base", paramLabel = "D", description = "First delay of exponential backoff.")
    @Nullable
    Duration base;

    @Option(names = "--factor", paramLabel = "X", description = "What each exponential delay is multiplied by.")
    @Nullable
    Double factor;

    @Option(
            names = "--offset",
            paramLabel = "0|1",
            description = "1: the first delay is already multiplied by the factor.")
    @Nullable
    Integer offset;

    @Option(names = "--step", paramLabel = "D", description = "What linear backoff adds each time.")
    @Nullable
    Duration step;

    @Option(names = "--delay", paramLabel = "D", description = "The one delay of fixed backoff.")
    @Nullable
    Duration delay;

    @Option(
            names = "--table",
            paramLabel = "D,D,...",
            split = ",",
            description = "Delays one by one; the last repeats.")
    @Nullable
    List<Duration> table;

    @Option(names = "--cap", paramLabel = "D|none", description = "No delay is longer.")
    @Nullable
    String cap;

    @Option(names = "--min-delay", paramLabel = "D", description = "No delay is shorter.")
    @Nullable
    Duration minDelay;

    @Option(
            names = "--jitter",
            paramLabel = "KIND",
            description = "none, full, equal, proportional:0.2, decorrelated or base-to-raw.")
    @Nullable
    String jitter;

    @Option(
            names = "--cap-order",
            paramLabel = "ORDER",
            converter = CapOrderName.class,
            description = "cap-then-jitter, jitter-then-cap or cap-jitter-cap.")
    @Nullable
    CapOrder capOrder;

    @Option(
            names = "--rounding",
            paramLabel = "UNIT",
            converter = RoundingName.class,
            description = "none, millis or floor-seconds.")
    @Nullable
    Rounding rounding;

    @Option(
            names = "--deadline",
            paramLabel = "D|none",
            description = "No attempt starts this long after the job was first due.")
    @Nullable
    String deadline;

    /** Returns the policy with the options of the command line above it. */
    RetryPolicy over(RetryPolicy beneath) {
        RetryPolicy layer = limits(RetryPolicy.unset());
        layer = curve(layer, beneath);
        layer = set(layer, "--cap", cap, (to, text) -> none(text) ? to.noCap() : to.cap(Durations.parse(text)));
        layer = set(layer, "--min-delay", minDelay, RetryPolicy::minDelay);
        layer = set(layer, "--jitter", jitter, (to, text) -> to.jitter(Jitter.parse(text)));
        layer = set(layer, "--cap-order", capOrder, RetryPolicy::capOrder);
        layer = set(layer, "--rounding", rounding, RetryPolicy::rounding);
        return layer.orElse(beneath);
    }

    private RetryPolicy limits(RetryPolicy layer) {
        if (maxAttempts != null && maxRetries != null) {
            throw new BadInput("--max-attempts and --max-retries say the same thing: give one of them");
        }
        RetryPolicy limited = set(layer, "--max-attempts", maxAttempts, PolicyOptions::withMaxAttempts);
        limited = set(limited, "--max-retries", maxRetries, RetryPolicy::maxRetries);
        return set(
                limited,
                "--deadline",
                deadline,
                (to, text) -> none(text) ? to.noDeadline() : to.deadline(Durations.parse(text)));
    }

    private static RetryPolicy withMaxAttempts(RetryPolicy layer, String text) {
        if (text.equalsIgnoreCase("unlimited")) {
            return layer.unlimited();
        }
        try {
            return layer.maxAttempts(Integer.parseInt(text));
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException(
                    "maxAttempts is '" + text + "' but must be 1 to 1000000, or unlimited", e);
        }
    }

    private RetryPolicy curve(RetryPolicy layer, RetryPolicy beneath) {
        Shape wanted = wantedShape();
        Shape effective = wanted == null ? shapeOf(beneath) : wanted;
        onlyFor(Shape.EXPONENTIAL, effective, "--factor", factor);
        onlyFor(Shape.EXPONENTIAL, effective, "--offset", offset);
        onlyFor(Shape.LINEAR, effective, "--step", step);
        onlyFor(Shape.FIXED, effective, "--delay", delay);
        onlyFor(Shape.TABLE, effective, "--table", table);
        if (base != null && effective != Shape.EXPONENTIAL) {
            throw new BadInput("--base is for --shape exponential; here the shape is " + name(effective));
        }
        RetryPolicy curved = wanted == null ? layer : shaped(layer, wanted, beneath);
        curved = set(curved, "--base", base, RetryPolicy::base);
        curved = set(curved, "--factor", factor, RetryPolicy::factor);
        return set(curved, "--offset", offset, RetryPolicy::offset);
    }

    /** Returns the shape that the user named, or the only shape that has a given number. */
    private @Nullable Shape wantedShape() {
        if (shape != null) {
            return shape;
        }
        if (table != null) {
            return Shape.TABLE;
        }
        if (step != null) {
            return Shape.LINEAR;
        }
        return delay != null ? Shape.FIXED : null;
    }

    private RetryPolicy shaped(RetryPolicy layer, Shape wanted, RetryPolicy beneath) {
        Duration known = beneath.complete().base().orElseThrow();
        return switch (wanted) {
            case EXPONENTIAL -> RetryPolicy.exponential().orElse(layer);
            case LINEAR ->
                set(layer, "--step", step == null ? known : step, (to, d) -> to.backoff(new Backoff.Linear(d)));
            case FIXED ->
                set(layer, "--delay", delay == null ? known : delay, (to, d) -> to.backoff(new Backoff.Fixed(d)));
            case TABLE -> {
                if (table == null) {
                    throw new BadInput("--shape table needs its delays: --table 1s,5s,30s");
                }
                yield set(layer, "--table", table, (to, list) -> to.backoff(new Backoff.Table(list)));
            }
        };
    }

    private static Shape shapeOf(RetryPolicy policy) {
        Backoff backoff = policy.complete().backoff().orElseThrow();
        if (backoff instanceof Backoff.Linear) {
            return Shape.LINEAR;
        }
        if (backoff instanceof Backoff.Fixed) {
            return Shape.FIXED;
        }
        return backoff instanceof Backoff.Table ? Shape.TABLE : Shape.EXPONENTIAL;
    }

    private static void onlyFor(Shape needed, Shape effective, String option, @Nullable Object value) {
        if (value != null && effective != needed) {
            throw new BadInput(option + " is for --shape " + name(needed) + "; here the shape is " + name(effective));
        }
    }

    private static String name(Shape shape) {
        return PolicyText.kebab(shape);
    }

    private static boolean none(String text) {
        return text.equalsIgnoreCase("none");
    }

    private interface Setter<T> {
        RetryPolicy set(RetryPolicy policy, T value);
    }

    private static <T> RetryPolicy set(RetryPolicy policy, String option, @Nullable T value, Setter<T> setter) {
        if (value == null) {
            return policy;
        }
        try {
            return setter.set(policy, value);
        } catch (IllegalArgumentException | picocli.CommandLine.TypeConversionException e) {
            throw new BadInput("Invalid value for option '" + option + "': " + e.getMessage(), e);
        }
    }

    /** Reads a constant as the JSON of a policy does: lower case, with hyphens. */
    private abstract static class Named<E extends Enum<E>> implements picocli.CommandLine.ITypeConverter<E> {
        private final E[] constants;

        Named(E[] constants) {
            this.constants = constants;
        }

        @Override
        public E convert(String text) {
            String wanted = text.toUpperCase(Locale.ROOT).replace('-', '_');
            for (E constant : constants) {
                if (constant.name().equals(wanted)) {
                    return constant;
                }
            }
            Function<E, String> kebab = PolicyText::kebab;
            throw new picocli.CommandLine.TypeConversionException("'" + text + "' is not one of "
                    + String.join(
                            ", ", java.util.Arrays.stream(constants).map(kebab).toList()));
        }
    }

    static final class ShapeName extends Named<Shape> {
        ShapeName() {
            super(Shape.values());
        }
    }

    static final class CapOrderName extends Named<CapOrder> {
        CapOrderName() {
            super(CapOrder.values());
        }
    }

    static final class RoundingName extends Named<Rounding> {
        RoundingName() {
            super(Rounding.values());
        }
    }
}
