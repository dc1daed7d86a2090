// SPDX-License-Identifier: Apache-2.0
package io.reprise.examples.video;

import io.reprise.retry.Presets;
import io.reprise.retry.RetryPolicy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Settings of the service from its environment, under the names that Conduit documents.
 *
 * @param retryCheckInterval the longest rest between two looks for work; a retry that is due earlier wakes the worker itself
 */
record VideoSettings(
        int maxRetries, Duration baseDelay, Duration maxDelay, boolean enableRetries, Duration retryCheckInterval) {

    private static final String PREFIX = "VideoGeneration__";
    private static final List<String> NAMES =
            List.of("MaxRetries", "BaseDelaySeconds", "MaxDelaySeconds", "EnableRetries", "RetryCheckIntervalSeconds");

    /** @throws IllegalArgumentException naming everything that is wrong */
    static VideoSettings read(Map<String, String> environment) {
        List<String> errors = new ArrayList<>();
        environment.keySet().stream()
                .filter(name -> name.startsWith(PREFIX) && !NAMES.contains(name.substring(PREFIX.length())))
                .sorted()
                .forEach(name -> errors.add(name + " is not a setting"));
        int base = number(environment, "BaseDelaySeconds", 30, 86_400, errors);
        int max = number(environment, "MaxDelaySeconds", 3600, 86_400, errors);
        if (max < base) {
            errors.add(PREFIX + "MaxDelaySeconds is less than BaseDelaySeconds");
        }
        VideoSettings settings = new VideoSettings(
                number(environment, "MaxRetries", 3, 1_000, errors),
                Duration.ofSeconds(base),
                Duration.ofSeconds(max),
                flag(environment, "EnableRetries", errors),
                Duration.ofSeconds(Math.max(1, number(environment, "RetryCheckIntervalSeconds", 30, 60, errors))));
        if (!errors.isEmpty()) {
            throw new IllegalArgumentException(String.join("; ", errors));
        }
        return settings;
    }

    private static int number(
            Map<String, String> environment, String name, int otherwise, int most, List<String> errors) {
        String text = environment.getOrDefault(PREFIX + name, Integer.toString(otherwise));
        int least = name.equals("MaxRetries") ? 0 : 1;
        try {
            int number = Integer.parseInt(text);
            if (number >= least && number <= most) {
                return number;
            }
        } catch (NumberFormatException e) {
            // Refused below in the same words.
        }
        errors.add(PREFIX + name + " must be a number from " + least + " to " + most + ", not '" + text + "'");
        return otherwise;
    }

    private static boolean flag(Map<String, String> environment, String name, List<String> errors) {
        String text = environment.getOrDefault(PREFIX + name, "true");
        if (!text.equals("true") && !text.equals("false")) {
            errors.add(PREFIX + name + " must be true or false, not '" + text + "'");
        }
        return text.equals("true");
    }

    /** Conduit's rules and arithmetic with these numbers. */
    RetryPolicy policy() {
        return Presets.get("conduit").base(baseDelay).cap(maxDelay).maxRetries(maxRetries);
    }
}
