// SPDX-License-Identifier: Apache-2.0
package io.reprise.retry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.time.Duration;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The delays of the systems the presets reproduce, in seconds: smallest-largest for retries 1 to 10. */
class GoldenVectorsTest {

    private static final int DRAWS = 100_000;

    @ParameterizedTest(name = "{0}")
    @CsvSource({
        "omniq,              .75-1.25  1.5-2.5  3-5      6-10     12-20     24-40     45-75      45-75      45-75     "
                + " 45-75",
        "stent,              .9-1.1    1.8-2.2  3.6-4.4  7.2-8.8  14.4-17.6 28.8-35.2 54-66      54-66      54-66     "
                + " 54-66",
        "weave,              0-.5      0-1      0-2      0-4      0-8       0-30      0-30       0-30       0-30      "
                + " 0-30",
        "weave-formula,      0-1       0-2      0-4      0-8      0-16      0-30      0-30       0-30       0-30      "
                + " 0-30",
        "weave-doubling,     0-.5      0-1      0-2      0-4      0-8       0-16      0-30       0-30       0-30      "
                + " 0-30",
        "weave-code,         1-1       2-2      4-4      8-8      16-16     30-30     30-30      30-30      30-30     "
                + " 30-30",
        "mongo,              0-5       0-10     0-20     0-40     0-80      0-160     0-320      0-640      0-1280    "
                + " 0-1800",
        "mongo-none,         5-5       10-10    20-20    40-40    80-80     160-160   320-320    640-640    1280-1280 "
                + " 1800-1800",
        "mongo-decorrelated, 5-5       5-10     5-20     5-40     5-80      5-160     5-320      5-640      5-1280    "
                + " 5-1800",
        "conduit,            24-36     48-72    96-144   192-288  384-576   768-1152  1536-2304  3072-3600  3600-3600 "
                + " 3600-3600",
        "conduit-service,    24-36     48-72    96-144   192-288  384-576   768-1152  1536-2304  2880-4320  2880-4320 "
                + " 2880-4320",
        "conduit-image,      24-36     48-72    96-144   192-288  384-576   768-1152  1536-2304  2880-4320  2880-4320 "
                + " 2880-4320",
        "conduit-service-doc,30-30     60-60    120-120  240-240  480-480   960-960   1920-1920  3840-3840  7680-7680 "
                + " 15360-15360",
        "conduit-webhook,    2-2       4-4      8-8      16-16    32-32     64-64     128-128    256-256    512-512   "
                + " 1024-1024",
        "omniq-linear,       5-5       10-10    15-15    20-20    25-25     30-30     35-35      40-40      45-45     "
                + " 50-50",
        "stent-batch,        42-78     126-234  378-702  1134-2106 2520-4680 2520-4680 2520-4680 2520-4680  2520-4680 "
                + " 2520-4680",
        "stent-external-api, 4.5-5.5   13.5-16.5 40.5-49.5 54-66  54-66     54-66     54-66      54-66      54-66     "
                + " 54-66",
        "weave-conservative, 0-1       0-2      0-4      0-8      0-16      0-32      0-60       0-60       0-60      "
                + " 0-60",
        "weave-aggressive,   0-.1      0-.2     0-.4     0-.8     0-1.6     0-3.2     0-5        0-5        0-5       "
                + " 0-5",
    })
    void a_preset_draws_the_delays_of_its_system(String preset, String vector) {
        RandomGenerator random = new SplittableRandom(20_261_115);
        RetryPolicy policy = Presets.get(preset);
        String[] ranges = vector.trim().split("\\s+", -1);
        assertThat(ranges).hasSize(10);
        for (int retry = 1; retry <= ranges.length; retry++) {
            String[] ends = ranges[retry - 1].split("-", 2);
            check(policy, retry, Double.parseDouble(ends[0]), Double.parseDouble(ends[1]), random);
        }
    }

    private static void check(RetryPolicy policy, int retry, double min, double max, RandomGenerator random) {
        double least = Double.MAX_VALUE;
        double most = 0;
        double sum = 0;
        for (int i = 0; i < DRAWS; i++) {
            double delay = seconds(policy.delay(retry, null, random));
            least = Math.min(least, delay);
            most = Math.max(most, delay);
            sum += delay;
        }
        double near = (max - min) * 0.001 + 1e-9 + resolution(policy, max > min);
        assertThat(least).as("least of retry %d", retry).isBetween(min, min + near);
        assertThat(most).as("most of retry %d", retry).isBetween(max - near, max);
        double raw = seconds(policy.draw(retry, null, random).raw());
        boolean symmetric = Math.abs(min + max - 2 * raw) < 1e-6;
        if (symmetric) {
            double tolerance = (max - min) * 0.005 + 1e-6 + resolution(policy, max > min);
            assertThat(sum / DRAWS).as("mean of retry %d", retry).isCloseTo(raw, within(tolerance));
        }
    }

    private static double resolution(RetryPolicy policy, boolean spread) {
        return !spread
                ? 0
                : switch (policy.rounding().orElseThrow()) {
                    case NONE -> 0;
                    case MILLIS -> 0.001;
                    case FLOOR_SECONDS -> 1;
                };
    }

    private static double seconds(Duration duration) {
        return duration.toNanos() / 1e9;
    }
}
