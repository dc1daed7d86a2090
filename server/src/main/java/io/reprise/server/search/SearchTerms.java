// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.search;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Splits a search into terms. Spaces separate terms, and quotes hold text with spaces together. */
final class SearchTerms {

    /**
     * One term.
     *
     * @param name what stands before the colon; null for free text
     * @param values what stands behind it, one or more between commas
     * @param not whether a minus sign stands before the term
     */
    record Term(@Nullable String name, List<String> values, boolean not) {}

    private final String text;
    private int at;

    private SearchTerms(String text) {
        this.text = text;
    }

    static List<Term> of(String text) {
        return new SearchTerms(text).all();
    }

    private List<Term> all() {
        List<Term> terms = new ArrayList<>();
        while (true) {
            while (at < text.length() && Character.isWhitespace(text.charAt(at))) {
                at++;
            }
            if (at >= text.length()) {
                return terms;
            }
            terms.add(term());
        }
    }

    private Term term() {
        boolean not = text.charAt(at) == '-' && at + 1 < text.length() && !Character.isWhitespace(text.charAt(at + 1));
        at += not ? 1 : 0;
        int colon = at;
        while (colon < text.length() && Character.isLetter(text.charAt(colon))) {
            colon++;
        }
        String name = null;
        if (colon > at && colon < text.length() && text.charAt(colon) == ':') {
            name = text.substring(at, colon);
            at = colon + 1;
        }
        List<String> values = new ArrayList<>();
        do {
            values.add(value(name != null));
        } while (name != null && at < text.length() && text.charAt(at++) == ',');
        return new Term(name, values, not);
    }

    /** Reads up to a space, or up to a comma if commas separate values. */
    private String value(boolean commas) {
        StringBuilder value = new StringBuilder();
        boolean quoted = false;
        while (at < text.length()) {
            char c = text.charAt(at);
            if (c == '"') {
                quoted = !quoted;
            } else if (!quoted && (Character.isWhitespace(c) || (commas && c == ','))) {
                break;
            } else {
                value.append(c);
            }
            at++;
        }
        return value.toString();
    }
}
