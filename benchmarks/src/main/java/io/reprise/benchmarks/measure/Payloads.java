// SPDX-License-Identifier: Apache-2.0
package io.reprise.benchmarks.measure;

import java.util.ArrayList;
import java.util.List;

/** Payloads of 100 characters that begin with the number of the job. */
public final class Payloads {

    private static final int DIGITS = 9;
    private static final String REST =
            " to ada@example.org about invoice 2026-11-15, template welcome, locale en, attempt soon "
                    .concat("x".repeat(100))
                    .substring(0, 100 - DIGITS);

    private Payloads() {}

    public static String of(int number) {
        String digits = Integer.toString(number);
        return "0".repeat(DIGITS - digits.length()) + digits + REST;
    }

    public static List<String> range(int from, int to) {
        List<String> payloads = new ArrayList<>(to - from);
        for (int number = from; number < to; number++) {
            payloads.add(of(number));
        }
        return payloads;
    }

    public static int number(String payload) {
        return Integer.parseInt(payload, 0, DIGITS, 10);
    }
}
