// SPDX-License-Identifier: Apache-2.0
package io.reprise.failure;

import io.reprise.text.Bounds;
import io.reprise.text.PatientText;
import io.reprise.text.Truncation;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
import org.jspecify.annotations.Nullable;

/**
 * One rule of a policy's classifier. If one of its items is found in a failure, the failure gets the class of the rule.
 *
 * <p>Types are class names; they match subclasses and implementations. Types and messages are searched along the whole
 * cause chain. A message pattern is a case-insensitive regular expression, found anywhere in the first 2,000 characters
 * of a message. A pattern that takes too long counts as no match.
 *
 * <p>Immutable and thread-safe. Rules with equal values are equal.
 *
 * @since 0.1.0
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

    /** The values of the rule. The patterns are compiled from them once. */
    private record Items(
            String name,
            FailureClass failureClass,
            List<String> types,
            List<String> codes,
            List<Integer> statuses,
            List<String> messages) {}

    private final Items items;
    private final List<Pattern> patterns;
    private final Set<String> types;

    private Rule(Items items) {
        this.items = items;
        this.patterns = items.messages.stream().map(Rule::compiled).toList();
        this.types = Set.copyOf(items.types);
    }

    /**
     * Creates a rule that matches any of the items. A rule has 1 to 200 items in total.
     *
     * @param name name of the rule, kept with each attempt that it decides; 1 to 500 characters, not blank
     * @param failureClass the class that the rule assigns: TRANSIENT, THROTTLED, DEPENDENCY_DOWN, PERMANENT or TIMEOUT
     * @param types class names, 1 to 500 characters each
     * @param codes application error codes, 1 to 500 characters each
     * @param statuses HTTP statuses, 100 to 599
     * @param messages regular expressions, 1 to 500 characters each
     * @throws NullPointerException if an argument or an item is null
     * @throws IllegalArgumentException if there is no item or more than 200, if an item is out of its bounds or is not
     *     a regular expression, or if the rule cannot assign the class
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

    /**
     * Creates a rule that matches class names. Bounds and exceptions are those of {@link #of}.
     *
     * @throws NullPointerException if an argument or an item is null
     * @throws IllegalArgumentException if there is no item, or a value is out of its bounds
     */
    public static Rule ofTypes(String name, FailureClass failureClass, String... types) {
        return of(name, failureClass, Arrays.asList(types), List.of(), List.of(), List.of());
    }

    /**
     * Creates a rule that matches application error codes. Bounds and exceptions are those of {@link #of}.
     *
     * @throws NullPointerException if an argument or an item is null
     * @throws IllegalArgumentException if there is no item, or a value is out of its bounds
     */
    public static Rule ofCodes(String name, FailureClass failureClass, String... codes) {
        return of(name, failureClass, List.of(), Arrays.asList(codes), List.of(), List.of());
    }

    /**
     * Creates a rule that matches HTTP statuses. Bounds and exceptions are those of {@link #of}.
     *
     * @throws NullPointerException if an argument or an item is null
     * @throws IllegalArgumentException if there is no item, or a value is out of its bounds
     */
    public static Rule ofStatuses(String name, FailureClass failureClass, Integer... statuses) {
        return of(name, failureClass, List.of(), List.of(), Arrays.asList(statuses), List.of());
    }

    /**
     * Creates a rule that matches messages by regular expression. Bounds and exceptions are those of {@link #of}.
     *
     * @throws NullPointerException if an argument or an item is null
     * @throws IllegalArgumentException if there is no item, if a value is out of its bounds, or if a pattern is not a
     *     regular expression
     */
    public static Rule ofMessages(String name, FailureClass failureClass, String... patterns) {
        return of(name, failureClass, List.of(), List.of(), List.of(), Arrays.asList(patterns));
    }

    /** Returns the name of the rule, which is kept with each attempt that it decides. */
    public String name() {
        return items.name;
    }

    /** Returns the class that this rule assigns. */
    public FailureClass failureClass() {
        return items.failureClass;
    }

    /** Returns the class names; empty if the rule has none. */
    public List<String> types() {
        return items.types;
    }

    /** Returns the application error codes; empty if the rule has none. */
    public List<String> codes() {
        return items.codes;
    }

    /** Returns the HTTP statuses; empty if the rule has none. */
    public List<Integer> statuses() {
        return items.statuses;
    }

    /** Returns the message patterns as text; empty if the rule has none. */
    public List<String> messages() {
        return items.messages;
    }

    /** Returns whether one of the items is found in the failure. */
    public boolean matches(Failure failure) {
        return (failure.code() != null && items.codes.contains(failure.code()))
                || (failure.httpStatus() != null && items.statuses.contains(failure.httpStatus()))
                || matchesType(failure)
                || matchesMessage(failure);
    }

    private boolean matchesType(Failure failure) {
        if (types.isEmpty()) {
            return false;
        }
        // Plain loops are fast: each failure is compared with each rule.
        for (Failure.Link link : failure.chain()) {
            for (String type : link.types()) {
                if (types.contains(type)) {
                    return true;
                }
            }
        }
        return false;
    }

    private boolean matchesMessage(Failure failure) {
        return !patterns.isEmpty()
                && failure.chain().stream()
                        .anyMatch(link -> patterns.stream().anyMatch(p -> PatientText.contains(link.message(), p)));
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
