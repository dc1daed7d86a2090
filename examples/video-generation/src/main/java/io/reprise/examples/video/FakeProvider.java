// SPDX-License-Identifier: Apache-2.0
package io.reprise.examples.video;

import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeoutException;

/** Stands for the maker of the videos, and fails as configured: a list of outcomes per model; the last repeats. */
final class FakeProvider {

    /** The possible outcomes of a call. */
    enum Outcome {
        OK,
        TIMEOUT,
        NETWORK,
        RATE_LIMIT,
        UNAVAILABLE,
        VALIDATION,
        AUTHENTICATION;

        String text() {
            return name().toLowerCase(Locale.ROOT).replace('_', '-');
        }
    }

    /** The provider's own answer when it fails. */
    static final class ProviderException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        ProviderException(String message) {
            super(message);
        }
    }

    private static final String PREFIX = "FakeProvider__";

    private final Map<String, List<Outcome>> models;

    FakeProvider(Map<String, List<Outcome>> models) {
        this.models = Map.copyOf(models);
    }

    /** From variables such as {@code FakeProvider__flaky=timeout,network,ok}. */
    static FakeProvider of(Map<String, String> environment) {
        Map<String, List<Outcome>> models = new TreeMap<>();
        environment.forEach((name, value) -> {
            if (name.startsWith(PREFIX)) {
                models.put(name.substring(PREFIX.length()), outcomes(name, value));
            }
        });
        return new FakeProvider(models);
    }

    private static List<Outcome> outcomes(String name, String text) {
        return Arrays.stream(text.split(",", -1))
                .map(word -> outcome(name, word.trim()))
                .toList();
    }

    private static Outcome outcome(String name, String word) {
        return Arrays.stream(Outcome.values())
                .filter(each -> each.text().equals(word))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException(name + " must be one or more of "
                        + Arrays.stream(Outcome.values()).map(Outcome::text).toList() + ", not '" + word + "'"));
    }

    /** The address of the video. */
    String generate(String model, String prompt, int attempt) throws IOException, TimeoutException {
        List<Outcome> outcomes = models.getOrDefault(model, List.of(Outcome.OK));
        return switch (outcomes.get(Math.min(attempt, outcomes.size()) - 1)) {
            case OK -> "https://videos.example/" + Integer.toHexString(prompt.hashCode()) + ".mp4";
            case TIMEOUT -> throw new TimeoutException("Connection timeout");
            case NETWORK -> throw new IOException("Network is unreachable");
            case RATE_LIMIT -> throw new ProviderException("Too many requests");
            case UNAVAILABLE -> throw new ProviderException("Service unavailable");
            case VALIDATION -> throw new IllegalArgumentException("The prompt is not allowed");
            case AUTHENTICATION -> throw new SecurityException("The provider does not accept our credentials");
        };
    }
}
