// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.http;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Describes a JSON value or a parameter. One description serves the check of requests and the OpenAPI document.
 * Immutable: each method returns a copy.
 */
public final class Schema {

    /** The kinds of values. */
    enum Kind {
        OBJECT,
        ARRAY,
        STRING,
        INTEGER,
        NUMBER,
        BOOLEAN,
        ANY,
        /** Any value; it is checked and kept as text. */
        JSON,
        /** One value of the items' schema, or an array of them. */
        ONE_OR_MORE,
        /** A value of one of several schemas. */
        ONE_OF
    }

    /** Text with a special form. */
    enum Format {
        DATE_TIME,
        DURATION,
        ID
    }

    final Kind kind;

    @Nullable
    String name;

    @Nullable
    String about;

    @Nullable
    Format format;

    @Nullable
    Pattern pattern;

    /** The pattern in words, for errors. What {@link #about} says is for the document. */
    @Nullable
    String form;

    List<String> choices = List.of();
    List<Schema> alternatives = List.of();

    @Nullable
    BigDecimal min;

    @Nullable
    BigDecimal max;

    boolean nullable;

    @Nullable
    Schema items;

    Map<String, Schema> members = Map.of();
    List<String> required = List.of();
    /** Whether undeclared members are accepted. */
    boolean open;
    /** The schema of undeclared members; null if they may be anything. */
    @Nullable
    Schema values;

    private Schema(Kind kind) {
        this.kind = kind;
    }

    public static Schema object() {
        return new Schema(Kind.OBJECT);
    }

    /** An object whose members have any names, with values of one kind. */
    public static Schema map(Schema values) {
        return object().open().with(copy -> copy.values = values);
    }

    public static Schema array(Schema items, int minItems, int maxItems) {
        return new Schema(Kind.ARRAY).with(copy -> {
            copy.items = items;
            copy.min = BigDecimal.valueOf(minItems);
            copy.max = BigDecimal.valueOf(maxItems);
        });
    }

    /** One value, or an array of 1 to {@code most}. */
    public static Schema oneOrMore(Schema items, int most) {
        return new Schema(Kind.ONE_OR_MORE).with(copy -> {
            copy.items = items;
            copy.min = BigDecimal.ONE;
            copy.max = BigDecimal.valueOf(most);
        });
    }

    /** A value of exactly one of these. For answers only. */
    public static Schema oneOf(Schema... alternatives) {
        return new Schema(Kind.ONE_OF).with(copy -> copy.alternatives = List.of(alternatives));
    }

    public static Schema text(int minLength, int maxLength) {
        return new Schema(Kind.STRING).with(copy -> {
            copy.min = BigDecimal.valueOf(minLength);
            copy.max = BigDecimal.valueOf(maxLength);
        });
    }

    /** The name of a queue, type, resource, tag and the like. */
    public static Schema name() {
        return text(1, 100).matching("[A-Za-z0-9][A-Za-z0-9_.:/@-]*", "1 to 100 letters, digits or _ . : / @ -");
    }

    /** A label that a worker offers and a job needs. */
    public static Schema label() {
        return text(1, 30).matching("[A-Za-z0-9][A-Za-z0-9_.-]*", "1 to 30 letters, digits or _ . -");
    }

    /** The id of a job. */
    public static Schema id() {
        return text(1, 20).with(copy -> copy.format = Format.ID).matching("[0-9]+", "an id, which has only digits");
    }

    public static Schema integer(long min, long max) {
        return new Schema(Kind.INTEGER).with(copy -> {
            copy.min = BigDecimal.valueOf(min);
            copy.max = BigDecimal.valueOf(max);
        });
    }

    public static Schema number(double min, double max) {
        return new Schema(Kind.NUMBER).with(copy -> {
            copy.min = BigDecimal.valueOf(min);
            copy.max = BigDecimal.valueOf(max);
        });
    }

    public static Schema bool() {
        return new Schema(Kind.BOOLEAN);
    }

    public static Schema any() {
        return new Schema(Kind.ANY);
    }

    /** Any JSON, however large. It is not parsed into a tree; {@link Fields#json} returns its text. */
    public static Schema json() {
        return new Schema(Kind.JSON);
    }

    public static Schema time() {
        return text(1, 40).with(copy -> copy.format = Format.DATE_TIME);
    }

    /** A duration such as {@code 500ms}, {@code 1m30s} or ISO-8601. */
    public static Schema duration() {
        return text(1, 40)
                .with(copy -> copy.format = Format.DURATION)
                .about("such as 500ms, 30s, 1m30s, 2h or PT1M30S");
    }

    public static Schema choice(List<String> choices) {
        return text(1, 100).with(copy -> copy.choices = List.copyOf(choices));
    }

    public static <E extends Enum<E>> Schema choice(Class<E> type) {
        List<String> names = new ArrayList<>();
        for (E constant : type.getEnumConstants()) {
            names.add(constant.name());
        }
        return choice(names);
    }

    /** Whether a value may hold any JSON, however long. */
    boolean hasJson() {
        return kind == Kind.JSON
                || (items != null && items.hasJson())
                || members.values().stream().anyMatch(Schema::hasJson);
    }

    /** Whether it is a list, or has a list, of what can have a payload or result. */
    boolean hasManyJson() {
        return (items != null && items.hasJson()) || members.values().stream().anyMatch(Schema::hasManyJson);
    }

    /** Adds a required member. */
    public Schema must(String member, Schema schema) {
        return member(member, schema).with(copy -> {
            List<String> more = new ArrayList<>(required);
            more.add(member);
            copy.required = List.copyOf(more);
        });
    }

    /** Adds an optional member. */
    public Schema may(String member, Schema schema) {
        return member(member, schema);
    }

    /** Gives the schema a name, under which it appears once in the document. */
    public Schema named(String name) {
        return with(copy -> copy.name = name);
    }

    public Schema about(String text) {
        return with(copy -> copy.about = text);
    }

    public Schema matching(String regex) {
        return with(copy -> copy.pattern = Pattern.compile(regex));
    }

    /** Sets a pattern that errors and the document say in words. A later {@link #about} leaves the errors as they are. */
    private Schema matching(String regex, String words) {
        return matching(regex).about(words).with(copy -> copy.form = words);
    }

    public Schema orNull() {
        return with(copy -> copy.nullable = true);
    }

    /** Requires no member. */
    public Schema partial() {
        return with(copy -> copy.required = List.of());
    }

    /** Accepts any other members too. */
    public Schema open() {
        return with(copy -> copy.open = true);
    }

    private Schema member(String member, Schema schema) {
        return with(copy -> {
            Map<String, Schema> more = new LinkedHashMap<>(members);
            more.put(member, schema);
            copy.members = more;
        });
    }

    private Schema with(Consumer<Schema> change) {
        Schema copy = new Schema(kind);
        copy.name = name;
        copy.about = about;
        copy.format = format;
        copy.pattern = pattern;
        copy.form = form;
        copy.choices = choices;
        copy.alternatives = alternatives;
        copy.min = min;
        copy.max = max;
        copy.nullable = nullable;
        copy.items = items;
        copy.members = members;
        copy.required = required;
        copy.open = open;
        copy.values = values;
        change.accept(copy);
        return copy;
    }
}
