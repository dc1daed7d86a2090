// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb.docs;

import java.math.BigDecimal;
import java.math.MathContext;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.bson.Document;
import org.jspecify.annotations.Nullable;

/**
 * Converts a payload to a sub-document, which can be queried and indexed, and back. The text comes back as it was, to the
 * byte: a payload becomes a sub-document only if its text can be made from that sub-document again. Every other payload
 * stays text. So numbers keep their digits and members their order.
 */
public final class PayloadDocs {

    /** MongoDB takes 100 levels for the whole document. */
    private static final int MAX_DEPTH = 50;

    /** A document has a name for each element of an array, so long arrays grow tenfold. */
    private static final int MAX_VALUES = 10_000;

    /** A double keeps so many digits of any decimal number. */
    private static final MathContext DIGITS = new MathContext(15);

    private static final char FIRST_PRINTABLE = ' ';

    private PayloadDocs() {}

    /** Returns the value to store: a document, or the text itself. */
    public static Object write(String text) {
        if (!text.startsWith("{") || !isSmall(text) || !isUnicode(text)) {
            return text;
        }
        try {
            Document document = Document.parse(text);
            return text.contentEquals(document(document)) ? document : text;
        } catch (RuntimeException e) {
            // No JSON, or nothing that this class writes.
            return text;
        }
    }

    /** Returns the number of bytes of the text in UTF-8. */
    static int bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8).length;
    }

    /** Returns the text of a stored value; null if there is none. */
    static @Nullable String read(@Nullable Object stored) {
        return stored instanceof Document document ? document(document).toString() : (String) stored;
    }

    private static boolean isSmall(String text) {
        int depth = 0;
        int values = 0;
        boolean quoted = false;
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '\\') {
                i++;
            } else if (c == '"') {
                quoted = !quoted;
            } else if (!quoted) {
                depth += c == '{' || c == '[' ? 1 : c == '}' || c == ']' ? -1 : 0;
                values += c == ',' || c == '{' || c == '[' ? 1 : 0;
            }
            if (depth > MAX_DEPTH || values > MAX_VALUES) {
                return false;
            }
        }
        return true;
    }

    /** Half of a pair of surrogates would become a question mark. */
    private static boolean isUnicode(String text) {
        return StandardCharsets.UTF_8.newEncoder().canEncode(text);
    }

    private static StringBuilder document(Document document) {
        StringBuilder out = new StringBuilder();
        object(out, document);
        return out;
    }

    private static void object(StringBuilder out, Map<String, ?> members) {
        out.append('{');
        String between = "";
        for (Map.Entry<String, ?> member : members.entrySet()) {
            String name = member.getKey();
            if (name.isEmpty() || name.startsWith("$") || name.indexOf('.') >= 0 || name.indexOf('\0') >= 0) {
                throw new IllegalArgumentException("a name that MongoDB takes for something else");
            }
            out.append(between);
            quoted(out, name);
            out.append(':');
            value(out, member.getValue());
            between = ",";
        }
        out.append('}');
    }

    private static void array(StringBuilder out, List<?> elements) {
        out.append('[');
        String between = "";
        for (Object element : elements) {
            out.append(between);
            value(out, element);
            between = ",";
        }
        out.append(']');
    }

    private static void value(StringBuilder out, @Nullable Object value) {
        if (value instanceof String text) {
            quoted(out, text);
        } else if (value instanceof Document document) {
            object(out, document);
        } else if (value instanceof List<?> list) {
            array(out, list);
        } else if (value instanceof Double number) {
            out.append(decimal(number));
        } else if (value == null || value instanceof Boolean || value instanceof Integer || value instanceof Long) {
            out.append(value);
        } else {
            throw new IllegalArgumentException("no value of JSON: " + value.getClass());
        }
    }

    /** Written with 15 digits and not by {@code Double.toString}, whose text differs between versions of Java. */
    private static String decimal(double number) {
        BigDecimal digits = new BigDecimal(number).round(DIGITS).stripTrailingZeros();
        return digits.scale() > 0 ? digits.toPlainString() : digits.toPlainString() + ".0";
    }

    private static void quoted(StringBuilder out, String text) {
        out.append('"');
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            switch (c) {
                case '"', '\\' -> out.append('\\').append(c);
                case '\b' -> out.append("\\b");
                case '\f' -> out.append("\\f");
                case '\n' -> out.append("\\n");
                case '\r' -> out.append("\\r");
                case '\t' -> out.append("\\t");
                default -> {
                    if (c < FIRST_PRINTABLE) {
                        out.append(String.format(Locale.ROOT, "\\u%04X", (int) c));
                    } else {
                        out.append(c);
                    }
                }
            }
        }
        out.append('"');
    }
}
