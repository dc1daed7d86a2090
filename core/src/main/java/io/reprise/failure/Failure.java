// SPDX-License-Identifier: Apache-2.0
package io.reprise.failure;

import io.reprise.text.Bounds;
import io.reprise.text.Truncation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A failed attempt as data. A failure can be sent over a network and classified without the exception.
 *
 * <p>Texts are bounded: a message has at most 2,000 characters, a trace 16,000, a type 500, a code 200, and a cause
 * chain 16 links. A longer text is cut and says how much is missing. The fingerprint is computed before texts are cut.
 *
 * <p>Immutable and thread-safe. Two failures are equal if all their values are equal.
 *
 * @since 0.1.0
 */
public final class Failure {

    /**
     * One throwable of the cause chain.
     *
     * @param types the class name first, then the names of its superclasses and interfaces
     * @param message the message, cut to 2,000 characters; empty if there is none
     */
    public record Link(List<String> types, String message) {
        /**
         * Copies the types and cuts the message.
         *
         * @throws NullPointerException if an argument or a type is null
         */
        public Link {
            types = List.copyOf(types);
            message = Truncation.cut(message, Truncation.MESSAGE);
        }
    }

    private record Facts(
            List<Link> chain,
            @Nullable String code,
            @Nullable Integer httpStatus,
            @Nullable Duration retryAfter,
            String trace,
            String fingerprint,
            @Nullable FailureClass given) {}

    private static final int MAX_CODE = 200;
    private static final int MAX_TYPE = 500;

    /** The greatest number of types of a reported failure. */
    public static final int MAX_TYPES = 32;

    private final Facts facts;

    private Failure(Facts facts) {
        this.facts = facts;
    }

    /**
     * Reads a throwable. The policy decides the class of the failure.
     *
     * <p>Code, HTTP status and Retry-After come from the first throwable of the cause chain that implements
     * {@link FailureDetails} and gives a value. A throwable whose methods fail or return null does no harm.
     *
     * @param throwable the outermost throwable, not null
     */
    public static Failure of(Throwable throwable) {
        return read(Objects.requireNonNull(throwable, "throwable"), null);
    }

    /**
     * Reads a throwable whose class is known. No rule is asked.
     *
     * @param throwable the outermost throwable
     * @throws NullPointerException if {@code given} or {@code throwable} is null
     */
    public static Failure of(FailureClass given, Throwable throwable) {
        return read(Objects.requireNonNull(throwable, "throwable"), Objects.requireNonNull(given));
    }

    /**
     * Creates a failure without an exception, such as a lost lease. It has no trace.
     *
     * @param type name of the failure, as a class name
     * @throws NullPointerException if {@code given} or {@code type} is null
     */
    public static Failure of(FailureClass given, String type, String message) {
        return reported(type, null, null, message, null).withGiven(given);
    }

    /**
     * Creates a failure that a worker in another process, in any language, reported. It has no trace; see
     * {@link #withTrace}.
     *
     * @param type class name or other name of the error
     * @param code application error code; null if there is none
     * @param httpStatus HTTP status; null if there is none
     * @param message message of the error; null means empty
     * @param retryAfter how long the other side asked to wait; null if it did not ask. A negative value becomes zero,
     *     and a value above 36,500 days becomes 36,500 days
     * @throws NullPointerException if {@code type} is null
     */
    public static Failure reported(
            String type,
            @Nullable String code,
            @Nullable Integer httpStatus,
            @Nullable String message,
            @Nullable Duration retryAfter) {
        return reported(List.of(type), code, httpStatus, message, retryAfter);
    }

    /**
     * Creates a failure as {@link #reported(String, String, Integer, String, Duration)} does, with the parents of the
     * error type. A rule that names any of them matches, as it does for a Java class and its superclasses.
     *
     * @param types 1 to {@value #MAX_TYPES} names, the type itself first, then its parents
     * @param code application error code; null if there is none
     * @param httpStatus HTTP status; null if there is none
     * @param message message of the error; null means empty
     * @param retryAfter how long the other side asked to wait; null if it did not ask
     * @throws NullPointerException if {@code types} or one of them is null
     * @throws IllegalArgumentException if there is no type, or there are too many
     */
    public static Failure reported(
            List<String> types,
            @Nullable String code,
            @Nullable Integer httpStatus,
            @Nullable String message,
            @Nullable Duration retryAfter) {
        Bounds.integer("number of types", types.size(), 1, MAX_TYPES);
        String text = message == null ? "" : message;
        String fingerprint = Fingerprint.of(types.get(0), text, code, httpStatus);
        List<String> names =
                types.stream().map(type -> Truncation.cut(type, MAX_TYPE)).toList();
        List<Link> chain = List.of(new Link(names, text));
        return new Failure(new Facts(chain, cut(code), httpStatus, sane(retryAfter), "", fingerprint, null));
    }

    /**
     * Returns this failure with the fingerprint that was stored when the failure happened. A store uses it when it
     * reads a failure, because the stored texts are cut and give another fingerprint.
     *
     * @throws NullPointerException if {@code fingerprint} is null
     */
    public Failure restored(String fingerprint) {
        return new Failure(new Facts(
                facts.chain,
                facts.code,
                facts.httpStatus,
                facts.retryAfter,
                facts.trace,
                Objects.requireNonNull(fingerprint),
                facts.given));
    }

    private static Failure read(Throwable throwable, @Nullable FailureClass given) {
        // Plain loops: a cold process reads thousands of failures before streams are compiled.
        List<Throwable> chain = Throwables.chain(throwable);
        List<Link> links = new ArrayList<>(chain.size());
        List<String> messages = new ArrayList<>(chain.size());
        List<Frames> frames = new ArrayList<>(chain.size());
        for (Throwable link : chain) {
            String message = Throwables.message(link);
            messages.add(message);
            links.add(new Link(Throwables.types(link), message));
            frames.add(Frames.of(link));
        }
        String code = detail(chain, FailureDetails::code);
        Integer status = detail(chain, FailureDetails::httpStatus);
        Duration retryAfter = detail(chain, FailureDetails::retryAfter);
        String fingerprint = Fingerprint.of(chain, messages, frames, code, status);
        String trace = Trace.of(chain, messages, frames);
        return new Failure(
                new Facts(List.copyOf(links), cut(code), status, sane(retryAfter), trace, fingerprint, given));
    }

    private static <T> @Nullable T detail(
            List<Throwable> chain, Function<FailureDetails, ? extends @Nullable T> question) {
        for (Throwable link : chain) {
            if (link instanceof FailureDetails details) {
                T answer = Throwables.guarded(() -> question.apply(details));
                if (answer != null) {
                    return answer;
                }
            }
        }
        return null;
    }

    private static @Nullable String cut(@Nullable String code) {
        return code == null ? null : Truncation.cut(code, MAX_CODE);
    }

    private static @Nullable Duration sane(@Nullable Duration retryAfter) {
        return retryAfter == null ? null : Duration.ofNanos(Bounds.nanos(retryAfter));
    }

    /**
     * Returns this failure with a class, which the handler or the engine decided. The last call wins.
     *
     * @throws NullPointerException if {@code given} is null
     */
    public Failure withGiven(FailureClass given) {
        return new Failure(new Facts(
                facts.chain,
                facts.code,
                facts.httpStatus,
                facts.retryAfter,
                facts.trace,
                facts.fingerprint,
                Objects.requireNonNull(given)));
    }

    /**
     * Returns this failure with a trace, cut to 16,000 characters. The fingerprint stays as it is. The last call wins.
     *
     * @throws NullPointerException if {@code trace} is null
     */
    public Failure withTrace(String trace) {
        return new Failure(new Facts(
                facts.chain,
                facts.code,
                facts.httpStatus,
                facts.retryAfter,
                Truncation.cut(trace, Truncation.TRACE),
                facts.fingerprint,
                facts.given));
    }

    /** Returns the class name of the outermost throwable. */
    public String type() {
        return facts.chain.get(0).types().get(0);
    }

    /** Returns the application error code, at most 200 characters; null if there is none. */
    public @Nullable String code() {
        return facts.code;
    }

    /** Returns the HTTP status that caused the failure; null if there is none. */
    public @Nullable Integer httpStatus() {
        return facts.httpStatus;
    }

    /** Returns the message of the outermost throwable; empty if there is none. */
    public String message() {
        return facts.chain.get(0).message();
    }

    /** Returns the stack trace with the cause chain; empty if there is none. */
    public String trace() {
        return facts.trace;
    }

    /**
     * Returns the fingerprint: 16 hexadecimal digits, equal for occurrences of the same error. Numbers, identifiers,
     * quoted text and other variable parts of the messages do not count.
     */
    public String fingerprint() {
        return facts.fingerprint;
    }

    /**
     * Returns a message without its variable parts, as the fingerprint counts it: numbers, identifiers, quoted text and
     * addresses are replaced by a question mark.
     */
    public static String pattern(String message) {
        return MessageShape.of(message);
    }

    /** Returns how long the other side asked to wait; null if it did not ask. Never negative. */
    public @Nullable Duration retryAfter() {
        return facts.retryAfter;
    }

    /** Returns the class that the handler or the engine decided; null if the policy decides it. */
    public @Nullable FailureClass given() {
        return facts.given;
    }

    /** Returns the cause chain, outermost throwable first: 1 to 16 links. */
    public List<Link> chain() {
        return facts.chain;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof Failure failure && facts.equals(failure.facts);
    }

    @Override
    public int hashCode() {
        return facts.hashCode();
    }

    @Override
    public String toString() {
        return type() + (message().isEmpty() ? "" : ": " + message()) + " [" + fingerprint() + "]";
    }
}
