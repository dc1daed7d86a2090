// SPDX-License-Identifier: Apache-2.0
package io.reprise.testkit.fuzz;

import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;

/**
 * Makes hostile texts out of good ones: cut, doubled, spliced, with numbers out of range, words of other texts, control
 * characters, unpaired surrogates, and excessive depth and length. Equal random numbers make equal texts.
 */
public final class Mutator {

    private static final List<String> WORDS = List.of(
            "null",
            "true",
            "-0",
            "0",
            "-1",
            "1e999",
            "-1e-999",
            "NaN",
            "Infinity",
            "9223372036854775807",
            "9223372036854775808",
            "2147483648",
            "-2147483649",
            "0.1",
            "00",
            "+1",
            "1_000",
            "\u0661\u0662",
            "\uff11",
            "{}",
            "[]",
            "\"\"",
            "\"",
            "\\",
            "\\u",
            "\\ud800",
            "\ud800",
            "\udfff",
            "\u0000",
            "\u202e",
            "\ufeff",
            "\r\n",
            "\t",
            " ",
            ",",
            ":",
            ";",
            "|",
            "=",
            "/",
            "*",
            "?",
            "#",
            "-",
            "--",
            "..",
            "%s",
            "${x}",
            "'",
            "P",
            "PT",
            "PT-1S",
            "P99999999999D",
            "PT0.0000000001S",
            "1ms",
            "99999999999d",
            "(",
            "(a+)+$",
            "[^",
            "(?",
            "java.lang.String",
            "@class",
            "__proto__",
            "\"a\":1,\"a\":2",
            "L",
            "W",
            "5L",
            "1#6",
            "60",
            "*/0",
            "0/0",
            "31",
            "30 2",
            "MON-SUN",
            "SUN-MON",
            "é",
            "🦊");

    private static final int MAX_LENGTH = 20_000;
    private static final int LONG_RUN = 5_000;

    private final RandomGenerator random;
    private final List<String> corpus;

    /**
     * Creates a source of texts.
     *
     * @param corpus good texts to start from, at least one
     */
    public Mutator(RandomGenerator random, List<String> corpus) {
        this.random = random;
        this.corpus = List.copyOf(corpus);
    }

    /** Returns the next text: one of the corpus, changed one to eight times. */
    public String next() {
        StringBuilder text = new StringBuilder(any(corpus));
        int changes = 1 << random.nextInt(4);
        for (int i = 0; i < changes; i++) {
            change(text);
            if (text.length() > MAX_LENGTH) {
                text.setLength(MAX_LENGTH);
            }
        }
        return text.toString();
    }

    /** Returns words, such as the arguments of a command: some changed, left out, doubled or moved. */
    public List<String> nextWords(String separator) {
        List<String> words = new ArrayList<>(List.of(any(corpus).split(separator, -1)));
        int changes = 1 + random.nextInt(3);
        for (int i = 0; i < changes && !words.isEmpty(); i++) {
            int at = random.nextInt(words.size());
            switch (random.nextInt(4)) {
                case 0 -> words.remove(at);
                case 1 -> words.add(at, words.get(random.nextInt(words.size())));
                case 2 -> words.set(at, any(WORDS));
                default -> {
                    StringBuilder word = new StringBuilder(words.get(at));
                    change(word);
                    words.set(at, word.toString());
                }
            }
        }
        return words;
    }

    private void change(StringBuilder text) {
        int at = random.nextInt(text.length() + 1);
        int end = Math.min(text.length(), at + 1 + random.nextInt(12));
        switch (random.nextInt(9)) {
            case 0 -> text.delete(at, end);
            case 1 -> text.insert(at, text.substring(at, end));
            case 2 -> text.insert(at, any(WORDS));
            case 3 -> text.replace(at, end, any(WORDS));
            case 4 -> replaceNumber(text, at);
            case 5 -> text.insert(at, (char) random.nextInt(1 << (1 + random.nextInt(16))));
            case 6 -> text.setLength(at);
            case 7 -> text.insert(at, splice(any(corpus)));
            default -> text.insert(at, any(WORDS).repeat(random.nextInt(16) == 0 ? LONG_RUN : 3));
        }
    }

    /**
     * Replaces a number by a number, which keeps the rest of the text well formed, so that deeper checks are reached.
     */
    private void replaceNumber(StringBuilder text, int from) {
        for (int i = from; i < text.length(); i++) {
            if (Character.isDigit(text.charAt(i))) {
                int end = i;
                while (end < text.length() && Character.isDigit(text.charAt(end))) {
                    end++;
                }
                text.replace(
                        i,
                        end,
                        random.nextBoolean() ? any(WORDS) : Long.toString(random.nextLong() >> random.nextInt(64)));
                return;
            }
        }
    }

    private String splice(String other) {
        int from = random.nextInt(other.length() + 1);
        return other.substring(from, from + random.nextInt(other.length() - from + 1));
    }

    private <T> T any(List<T> list) {
        return list.get(random.nextInt(list.size()));
    }
}
