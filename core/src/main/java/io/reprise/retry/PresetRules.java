// SPDX-License-Identifier: Apache-2.0
package io.reprise.retry;

import static io.reprise.failure.FailureClass.DEPENDENCY_DOWN;
import static io.reprise.failure.FailureClass.PERMANENT;
import static io.reprise.failure.FailureClass.THROTTLED;
import static io.reprise.failure.FailureClass.TRANSIENT;

import io.reprise.failure.Rule;
import java.util.List;

/**
 * The classifier rules of those other systems that have rules.
 *
 * <p>Types are named as in Java and as in the language of the system, because workers in any language report failures.
 */
final class PresetRules {

    private static final Rule NETWORK = Rule.ofTypes(
            "network",
            TRANSIENT,
            "java.net.SocketException",
            "java.net.UnknownHostException",
            "java.net.http.HttpConnectTimeoutException",
            "ConnectionError",
            "NetworkError");

    private static final Rule TIMEOUT = Rule.ofTypes(
            "timeout-error",
            TRANSIENT,
            "java.util.concurrent.TimeoutException",
            "java.net.SocketTimeoutException",
            "java.net.http.HttpTimeoutException",
            "TimeoutError");

    private static final Rule IO = Rule.ofTypes("io", TRANSIENT, "java.io.IOException", "IOError", "OSError");

    private PresetRules() {}

    static List<Rule> stentSelective() {
        return List.of(NETWORK, TIMEOUT, IO);
    }

    static List<Rule> stentNetwork() {
        return List.of(NETWORK);
    }

    static List<Rule> conduit() {
        return List.of(
                Rule.ofStatuses("validation", PERMANENT, 400, 422),
                Rule.ofStatuses("authentication", PERMANENT, 401, 403),
                Rule.ofStatuses("rate-limit-status", THROTTLED, 429),
                Rule.ofStatuses("unavailable-status", DEPENDENCY_DOWN, 408, 502, 503, 504),
                Rule.ofTypes(
                        "retryable-type",
                        TRANSIENT,
                        "java.util.concurrent.TimeoutException",
                        "java.util.concurrent.CancellationException",
                        "java.io.IOException",
                        "System.TimeoutException",
                        "System.Net.Http.HttpRequestException",
                        "System.Threading.Tasks.TaskCanceledException",
                        "System.IO.IOException",
                        "System.Net.Sockets.SocketException"),
                Rule.ofMessages("rate-limit", THROTTLED, "too many requests", "rate limit"),
                Rule.ofMessages("unavailable", DEPENDENCY_DOWN, "temporarily unavailable", "service unavailable"),
                Rule.ofMessages("network-or-timeout", TRANSIENT, "timeout", "timed out", "connection", "network"));
    }
}
