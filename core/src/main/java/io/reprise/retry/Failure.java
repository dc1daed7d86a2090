// SPDX-License-Identifier: Apache-2.0
package io.reprise.retry;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * What ended an attempt badly, as data: it can be reported over a wire and classified without the exception.
 *
 * <p>Texts are bounded: a message to 2,000 characters, a trace to 16,000, a cause chain to 16 links. The fingerprint is
 * taken over the error before it is cut.
 */
public final class Failure {

    /**
     * One throwable of the cause chain.
     *
     * @param types its class name first, then the names of its superclasses and interfaces
     */
    public record Link(List<String> types, String message) {
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

    private final Facts facts;

    private Failure(Facts facts) {
        this.facts = facts;
    }

    /** A failure whose class is left to the policy. */
    public static Failure of(Throwable throwable) {
        return read(throwable, null);
    }

    /** A failure whose class is known already. */
    public static Failure of(FailureClass given, Throwable throwable) {
        return read(throwable, Objects.requireNonNull(given));
    }

    /** A failure without an exception, such as a lost lease. */
    public static Failure of(FailureClass given, String type, String message) {
        return reported(type, null, null, message, null).withGiven(given);
    }

    /** A failure reported by a worker elsewhere, in any language. */
    public static Failure reported(
            String type,
            @Nullable String code,
            @Nullable Integer httpStatus,
            @Nullable String message,
            @Nullable Duration retryAfter) {
        String text = message == null ? "" : message;
        String fingerprint = Fingerprint.of(type, text, code, httpStatus);
        List<Link> chain = List.of(new Link(List.of(Truncation.cut(type, MAX_TYPE)), text));
        return new Failure(new Facts(chain, cut(code), httpStatus, sane(retryAfter), "", fingerprint, null));
    }

    /** This failure with a fingerprint that was taken, and stored, when it happened. */
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
        List<Throwable> chain = Throwables.chain(throwable);
        String code = detail(chain, FailureDetails::code);
        Integer status = detail(chain, FailureDetails::httpStatus);
        Duration retryAfter = detail(chain, FailureDetails::retryAfter);
        List<Link> links = chain.stream()
                .map(link -> new Link(Throwables.types(link), Throwables.message(link)))
                .toList();
        List<Frames> frames = chain.stream().map(Frames::of).toList();
        String fingerprint = Fingerprint.of(chain, frames, code, status);
        String trace = Trace.of(chain, frames);
        return new Failure(new Facts(links, cut(code), status, sane(retryAfter), trace, fingerprint, given));
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

    /** This failure with the class decided, by the handler or by what observed it. */
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

    /** This failure with a trace as reported from elsewhere; it does not take part in the fingerprint. */
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

    /** Class name of the outermost throwable. */
    public String type() {
        return facts.chain.get(0).types().get(0);
    }

    public @Nullable String code() {
        return facts.code;
    }

    public @Nullable Integer httpStatus() {
        return facts.httpStatus;
    }

    /** Message of the outermost throwable; empty if it has none. */
    public String message() {
        return facts.chain.get(0).message();
    }

    /** The stack trace; empty if there is none. */
    public String trace() {
        return facts.trace;
    }

    /** 16 hexadecimal digits, equal for occurrences of the same error. */
    public String fingerprint() {
        return facts.fingerprint;
    }

    /** How long the other side asked to wait, never negative. */
    public @Nullable Duration retryAfter() {
        return facts.retryAfter;
    }

    /** The class decided before any rule is asked. */
    public @Nullable FailureClass given() {
        return facts.given;
    }

    /** The cause chain, outermost first; never empty. */
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
