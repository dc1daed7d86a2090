// SPDX-License-Identifier: Apache-2.0
package io.reprise.retry;

import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
import org.jspecify.annotations.Nullable;

/**
 * One line of a classifier: if any listed item is found in a failure, the failure is of this class.
 *
 * <p>Types are class names and match subclasses and implementations; types and messages are looked for along the whole
 * cause chain. Message patterns are case-insensitive regular expressions found anywhere in the message.
 */
public final class Rule {

    private static final int MAX_ITEMS = 200;
    private static final int MAX_TEXT = 500;
    private static final Set<FailureClass> ASSIGNABLE = Set.of(
            FailureClass.TRANSIENT,
            FailureClass.THROTTLED,
            FailureClass.DEPENDENCY_DOWN,
            FailureClass.PERMANENT,
            FailureClass.TIMEOUT);

    /** The data; patterns are compiled from it once. */
    private record Items(
            String name,
            FailureClass failureClass,
            List<String> types,
            List<String> codes,
            List<Integer> statuses,
            List<String> messages) {}

    private final Items items;
    private final List<Pattern> patterns;

    private Rule(Items items) {
        this.items = items;
        this.patterns = items.messages.stream().map(Rule::compiled).toList();
    }

    /**
     * A rule matching any of the items.
     *
     * @throws IllegalArgumentException if there is no item, one is too long or malformed, or the class is one that only
     *     the engine can know (LOST, INTERRUPTED, UNREADABLE)
     */
    public static Rule of(
            String name,
            FailureClass failureClass,
            List<String> types,
            List<String> codes,
            List<Integer> statuses,
            List<String> messages) {
        text("rule name", name);
        if (!ASSIGNABLE.contains(failureClass)) {
            throw Bounds.refused(
                    "class of rule " + name,
                    failureClass,
                    "one of TRANSIENT, THROTTLED, DEPENDENCY_DOWN, PERMANENT, TIMEOUT");
        }
        types.forEach(type -> text("types of rule " + name, type));
        codes.forEach(code -> text("codes of rule " + name, code));
        messages.forEach(message -> text("messages of rule " + name, message));
        statuses.forEach(status -> Bounds.integer("statuses of rule " + name, status, 100, 599));
        int count = types.size() + codes.size() + statuses.size() + messages.size();
        Bounds.integer("number of items of rule " + name, count, 1, MAX_ITEMS);
        return new Rule(new Items(
                name,
                failureClass,
                List.copyOf(types),
                List.copyOf(codes),
                List.copyOf(statuses),
                List.copyOf(messages)));
    }

    public static Rule ofTypes(String name, FailureClass failureClass, String... types) {
        return of(name, failureClass, Arrays.asList(types), List.of(), List.of(), List.of());
    }

    public static Rule ofCodes(String name, FailureClass failureClass, String... codes) {
        return of(name, failureClass, List.of(), Arrays.asList(codes), List.of(), List.of());
    }

    public static Rule ofStatuses(String name, FailureClass failureClass, Integer... statuses) {
        return of(name, failureClass, List.of(), List.of(), Arrays.asList(statuses), List.of());
    }

    public static Rule ofMessages(String name, FailureClass failureClass, String... patterns) {
        return of(name, failureClass, List.of(), List.of(), List.of(), Arrays.asList(patterns));
    }

    public String name() {
        return items.name;
    }

    /** The class this rule assigns. */
    public FailureClass failureClass() {
        return items.failureClass;
    }

    public List<String> types() {
        return items.types;
    }

    public List<String> codes() {
        return items.codes;
    }

    public List<Integer> statuses() {
        return items.statuses;
    }

    public List<String> messages() {
        return items.messages;
    }

    public boolean matches(Failure failure) {
        return (failure.code() != null && items.codes.contains(failure.code()))
                || (failure.httpStatus() != null && items.statuses.contains(failure.httpStatus()))
                || matchesLink(failure.chain());
    }

    /** Loops, not streams: every failure goes past some thirty rules. */
    private boolean matchesLink(List<Failure.Link> chain) {
        for (Failure.Link link : chain) {
            for (String type : items.types) {
                if (link.types().contains(type)) {
                    return true;
                }
            }
            for (Pattern pattern : patterns) {
                if (PatientText.contains(link.message(), pattern)) {
                    return true;
                }
            }
        }
        return false;
    }

    private static void text(String field, String value) {
        if (value.isBlank() || value.length() > MAX_TEXT) {
            throw Bounds.refused(field, '"' + Truncation.cut(value, 100) + '"', "1 to " + MAX_TEXT + " characters");
        }
    }

    private static Pattern compiled(String message) {
        try {
            return Pattern.compile(message, Pattern.CASE_INSENSITIVE | Pattern.UNICODE_CASE);
        } catch (PatternSyntaxException e) {
            throw new IllegalArgumentException(
                    "messages: \"" + message + "\" is not a regular expression: " + e.getDescription(), e);
        }
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof Rule rule && items.equals(rule.items);
    }

    @Override
    public int hashCode() {
        return items.hashCode();
    }

    @Override
    public String toString() {
        return items.name + " -> " + items.failureClass;
    }
}
