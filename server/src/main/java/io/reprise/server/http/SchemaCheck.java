// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.http;

import io.reprise.server.config.Durations;
import io.reprise.server.http.Problem.FieldError;
import io.reprise.text.SurrogatePairs;
import java.math.BigDecimal;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeType;

/** Finds every error of a value, not just the first. */
final class SchemaCheck {

    private static final int MAX_ERRORS = 50;

    private static final Instant FIRST = Instant.parse("0001-01-01T00:00:00Z");
    private static final Instant LAST = Instant.parse("9999-12-31T23:59:59Z");

    private static final Pattern DIGITS = Pattern.compile("-?[0-9]+");

    private final List<FieldError> errors = new ArrayList<>();
    private final boolean stored;

    /** Creates the check of a request. */
    SchemaCheck() {
        this(true);
    }

    /**
     * Creates a check.
     *
     * @param stored whether the value is to be stored, so that it must not have the null character or half of a surrogate pair
     */
    SchemaCheck(boolean stored) {
        this.stored = stored;
    }

    List<FieldError> errors() {
        return errors;
    }

    void value(String field, Schema schema, JsonNode node) {
        if (errors.size() >= MAX_ERRORS || schema.kind == Schema.Kind.ANY || schema.kind == Schema.Kind.JSON) {
            return;
        }
        if (node.isNull()) {
            if (!schema.nullable) {
                wrong(field, "must not be null");
            }
            return;
        }
        switch (schema.kind) {
            case OBJECT -> object(field, schema, node);
            case ARRAY -> array(field, schema, node);
            case ONE_OR_MORE -> oneOrMore(field, schema, node);
            case ONE_OF -> oneOf(field, schema, node);
            case BOOLEAN -> type(field, node, JsonNodeType.BOOLEAN, "true or false");
            case INTEGER -> number(field, schema, node, true);
            case NUMBER -> number(field, schema, node, false);
            case STRING -> {
                if (type(field, node, JsonNodeType.STRING, "text")) {
                    text(field, schema, node.stringValue());
                }
            }
            case ANY, JSON -> {}
        }
    }

    /** Checks the value of a parameter, which is always text. */
    void parameter(String field, Schema schema, String value) {
        switch (schema.kind) {
            case INTEGER, NUMBER -> {
                try {
                    if (value.length() > 30) {
                        throw new NumberFormatException("too long");
                    }
                    if (schema.kind == Schema.Kind.INTEGER
                            && !DIGITS.matcher(value).matches()) {
                        throw new NumberFormatException("not only digits");
                    }
                    range(field, schema, new BigDecimal(value));
                } catch (NumberFormatException e) {
                    wrong(field, "must be " + (schema.kind == Schema.Kind.INTEGER ? "a whole number" : "a number"));
                }
            }
            case BOOLEAN -> {
                if (!value.equals("true") && !value.equals("false")) {
                    wrong(field, "must be true or false");
                }
            }
            default -> text(field, schema, value);
        }
    }

    void unknown(String name, Collection<String> known) {
        wrong(shorten(name), unknown(known));
    }

    private static String unknown(Collection<String> known) {
        return "is not known here; " + (known.isEmpty() ? "nothing is" : "known: " + String.join(", ", known));
    }

    private void object(String field, Schema schema, JsonNode node) {
        if (!type(field, node, JsonNodeType.OBJECT, "an object")) {
            return;
        }
        for (String member : schema.required) {
            if (!node.has(member)) {
                wrong(field + "/" + member, "is missing");
            }
        }
        for (Map.Entry<String, JsonNode> entry : node.properties()) {
            Schema member = schema.members.get(entry.getKey());
            if (member == null) {
                member = schema.values;
            }
            if (member != null) {
                value(field + "/" + entry.getKey(), member, entry.getValue());
            } else if (!schema.open) {
                wrong(field + "/" + shorten(entry.getKey()), unknown(schema.members.keySet()));
            }
        }
    }

    private void array(String field, Schema schema, JsonNode node) {
        if (type(field, node, JsonNodeType.ARRAY, "an array")) {
            items(field, schema, node);
        }
    }

    private void oneOrMore(String field, Schema schema, JsonNode node) {
        if (node.isArray()) {
            items(field, schema, node);
        } else if (schema.items != null) {
            value(field, schema.items, node);
        }
    }

    private void oneOf(String field, Schema schema, JsonNode node) {
        List<FieldError> all = new ArrayList<>();
        for (Schema alternative : schema.alternatives) {
            SchemaCheck check = new SchemaCheck(stored);
            check.value(field, alternative, node);
            if (check.errors.isEmpty()) {
                return;
            }
            all.addAll(check.errors);
        }
        all.forEach(error -> wrong(error.field(), error.message()));
    }

    private void items(String field, Schema schema, JsonNode node) {
        BigDecimal size = BigDecimal.valueOf(node.size());
        if (!within(schema, size)) {
            wrong(field, "must have " + schema.min + " to " + schema.max + " items, not " + size);
            return;
        }
        for (int i = 0; i < node.size() && schema.items != null; i++) {
            value(field + "/" + i, schema.items, node.get(i));
        }
    }

    private void number(String field, Schema schema, JsonNode node, boolean whole) {
        if (!node.isNumber() || (whole && !node.canConvertToExactIntegral())) {
            wrong(field, "must be " + (whole ? "a whole number" : "a number"));
            return;
        }
        range(field, schema, node.decimalValue());
    }

    private void range(String field, Schema schema, BigDecimal number) {
        if (!within(schema, number)) {
            wrong(field, "must be " + plain(schema.min) + " to " + plain(schema.max));
        }
    }

    private void text(String field, Schema schema, String text) {
        if (!within(schema, BigDecimal.valueOf(text.length()))) {
            wrong(field, "must have " + schema.min + " to " + schema.max + " characters");
        } else if (!schema.choices.isEmpty() && !schema.choices.contains(text)) {
            wrong(field, "must be one of " + String.join(", ", schema.choices));
        } else if (schema.pattern != null && !schema.pattern.matcher(text).matches()) {
            String form = schema.form == null ? schema.about : schema.form;
            wrong(field, form == null ? "must match " + schema.pattern : "must be " + form);
        } else if (stored && text.indexOf('\0') >= 0) {
            wrong(field, "must not contain the null character");
        } else if (stored && !SurrogatePairs.areWhole(text)) {
            wrong(field, "must not contain half of a surrogate pair");
        } else if (schema.format != null) {
            format(field, schema.format, text);
        }
    }

    private void format(String field, Schema.Format format, String text) {
        try {
            switch (format) {
                case DATE_TIME -> requireUsual(Instant.parse(text));
                case DURATION -> Durations.parse(text);
                case ID -> Long.parseLong(text);
            }
        } catch (DateTimeParseException e) {
            wrong(field, "must be a time such as 2026-01-31T12:00:00Z");
        } catch (NumberFormatException e) {
            wrong(field, "must be an id");
        } catch (IllegalArgumentException e) {
            wrong(field, "must be a duration such as 500ms, 30s, 1m30s, 2h or PT1M30S");
        }
    }

    /** Refuses years that overflow in some store. */
    private static void requireUsual(Instant time) {
        if (time.isBefore(FIRST) || time.isAfter(LAST)) {
            throw new DateTimeParseException("not a usual year", time.toString(), 0);
        }
    }

    private boolean type(String field, JsonNode node, JsonNodeType type, String words) {
        if (node.getNodeType() != type) {
            wrong(field, "must be " + words);
            return false;
        }
        return true;
    }

    private static boolean within(Schema schema, BigDecimal number) {
        return (schema.min == null || number.compareTo(schema.min) >= 0)
                && (schema.max == null || number.compareTo(schema.max) <= 0);
    }

    private static String plain(@Nullable BigDecimal number) {
        return number == null ? "any" : number.stripTrailingZeros().toPlainString();
    }

    private static String shorten(String name) {
        return name.length() <= 40 ? name : name.substring(0, 40) + "…";
    }

    private void wrong(String field, String message) {
        if (errors.size() < MAX_ERRORS) {
            errors.add(new FieldError(field, message));
        }
    }
}
