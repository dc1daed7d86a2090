// SPDX-License-Identifier: Apache-2.0
package io.reprise.retry;

import static io.reprise.failure.FailureClass.DEPENDENCY_DOWN;
import static io.reprise.failure.FailureClass.PERMANENT;
import static io.reprise.failure.FailureClass.THROTTLED;
import static io.reprise.failure.FailureClass.TRANSIENT;

import io.reprise.failure.FailureClass;
import io.reprise.failure.Rule;
import java.util.ArrayList;
import java.util.List;

/**
 * The rules of {@link RetryPolicy#DEFAULT}. The strongest evidence comes first.
 *
 * <p>An HTTP status says more than the exception that carried it. A broken connection says more than the exception that
 * a library wrapped around it. For that reason programming errors come last.
 */
final class DefaultRules {

    static final List<Rule> RULES = rules();

    private DefaultRules() {}

    private static List<Rule> rules() {
        List<Rule> rules = new ArrayList<>();
        statuses(rules, PERMANENT, 400, 401, 403, 404, 405, 406, 409, 410, 411, 413, 414, 415, 422, 501, 505);
        // A lock usually belongs to another writer, which is gone by the next attempt.
        statuses(rules, TRANSIENT, 408, 423, 425, 500);
        statuses(rules, THROTTLED, 429);
        statuses(rules, DEPENDENCY_DOWN, 502, 503, 504);
        malformed(rules);
        network(rules);
        worker(rules);
        // Last: the same code with the same input fails the same way.
        rules.add(Rule.ofTypes(
                "programming-error",
                PERMANENT,
                "java.lang.IllegalArgumentException",
                "java.lang.NullPointerException",
                "java.lang.ClassCastException",
                "java.lang.UnsupportedOperationException",
                "java.lang.IndexOutOfBoundsException",
                "java.lang.ArithmeticException",
                "java.lang.ArrayStoreException",
                "java.lang.NegativeArraySizeException",
                "java.time.DateTimeException",
                "java.lang.Error"));
        return List.copyOf(rules);
    }

    private static void statuses(List<Rule> rules, FailureClass failureClass, Integer... statuses) {
        for (Integer status : statuses) {
            rules.add(Rule.ofStatuses("http-" + status, failureClass, status));
        }
    }

    /** Data that does not parse. Several of these types are IOExceptions, so this rule comes before {@code io}. */
    private static void malformed(List<Rule> rules) {
        rules.add(Rule.ofTypes(
                "malformed",
                PERMANENT,
                "java.net.MalformedURLException",
                "java.net.URISyntaxException",
                "java.nio.charset.CharacterCodingException",
                "java.io.ObjectStreamException",
                "java.io.UTFDataFormatException",
                "java.text.ParseException",
                "java.sql.SQLSyntaxErrorException",
                "java.sql.SQLDataException",
                "java.sql.SQLFeatureNotSupportedException",
                "com.fasterxml.jackson.core.JacksonException",
                "com.fasterxml.jackson.core.JsonProcessingException",
                "tools.jackson.core.exc.StreamReadException",
                "tools.jackson.databind.DatabindException"));
    }

    private static void network(List<Rule> rules) {
        rules.add(Rule.ofTypes(
                "unreachable",
                DEPENDENCY_DOWN,
                "java.net.ConnectException",
                "java.net.NoRouteToHostException",
                "java.net.PortUnreachableException",
                "java.net.UnknownHostException",
                "java.net.http.HttpConnectTimeoutException",
                "java.nio.channels.UnresolvedAddressException",
                "java.sql.SQLTransientConnectionException",
                "java.sql.SQLNonTransientConnectionException",
                "javax.net.ssl.SSLException"));
        rules.add(Rule.ofTypes(
                "call-timeout",
                DEPENDENCY_DOWN,
                "java.net.SocketTimeoutException",
                "java.net.http.HttpTimeoutException",
                "java.util.concurrent.TimeoutException",
                "java.sql.SQLTimeoutException"));
        rules.add(Rule.ofTypes(
                "database", TRANSIENT, "java.sql.SQLTransientException", "java.sql.SQLRecoverableException"));
        rules.add(Rule.ofTypes("io", TRANSIENT, "java.io.IOException"));
    }

    /** Errors of this worker, not of the job. Another worker, or this worker later, may succeed. */
    private static void worker(List<Rule> rules) {
        rules.add(Rule.ofTypes("out-of-memory", TRANSIENT, "java.lang.OutOfMemoryError"));
        rules.add(Rule.ofTypes("class-loading", TRANSIENT, "java.lang.LinkageError"));
    }
}
