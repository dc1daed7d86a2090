// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.delivery;

import io.opentelemetry.context.Context;
import io.reprise.DeferredHandler;
import io.reprise.JobContext;
import io.reprise.JobType;
import io.reprise.PayloadCodec;
import io.reprise.insight.TraceParent;
import io.reprise.job.JobSignal;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Runs {@code http} jobs: it makes the call, and the job's policy judges any answer but 2xx. The receiver gets
 * the job's id, attempt and fencing token, and a signature if there are secrets. The result is the answer, up to
 * the kept size. Thread-safe.
 */
public final class HttpDelivery implements DeferredHandler<HttpCall> {

    public static final JobType<HttpCall> TYPE = JobType.of("http", HttpCall.class);

    private static final int MAX_REDIRECTS = 5;
    private static final Set<Integer> REDIRECTS = Set.of(301, 302, 303, 307, 308);
    private static final Set<Integer> SAME_METHOD = Set.of(307, 308);
    private static final Set<String> SAFE = Set.of("GET", "HEAD");

    /** Headers that another origin than the intended one may see. */
    private static final Set<String> HARMLESS =
            Set.of("accept", "content-type", "reprise-job-id", "reprise-attempt", "reprise-token");

    private final OutboundClient client;
    private final OutboundGuard guard;
    private final List<SigningSecret> secrets;
    private final PayloadCodec codec;
    private final InstantSource clock;
    private final CallShares shares;

    public HttpDelivery(
            OutboundClient client,
            OutboundGuard guard,
            List<SigningSecret> secrets,
            PayloadCodec codec,
            InstantSource clock,
            CallShares shares) {
        this.shares = shares;
        this.client = client;
        this.guard = guard;
        this.secrets = List.copyOf(secrets);
        this.codec = codec;
        this.clock = clock;
    }

    @Override
    public Runnable begin(HttpCall call, JobContext job, Consumer<@Nullable Throwable> end) {
        List<HttpCall.Flaw> flaws = call.flaws(guard);
        if (!flaws.isEmpty()) {
            throw JobSignal.fail("The call cannot be made: " + flaws.get(0).member() + ": "
                    + flaws.get(0).message());
        }
        OutboundCall first = outbound(call, job);
        return shares.during(job.job(), end, stop -> {
            CompletableFuture<OutboundAnswer> answer = call.follows()
                    ? follow(first, clock.instant().plus(first.limit()), 0, stop, Context.current())
                    : client.send(first, stop);
            return answer.thenAccept(found -> {
                if (!found.isSuccess()) {
                    throw unsuccessful(found, first);
                }
                job.result(result(found));
            });
        });
    }

    private OutboundCall outbound(HttpCall call, JobContext job) {
        String body = call.body() == null ? "" : call.body() instanceof String text ? text : codec.encode(call.body());
        Map<String, String> headers = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        if (!body.isEmpty()) {
            headers.put(
                    "Content-Type", call.body() instanceof String ? "text/plain; charset=utf-8" : "application/json");
        }
        headers.putAll(call.extraHeaders());
        headers.putAll(fence(job));
        String tenant = CallShares.tenant(job.job().queue());
        // A secret of the tenant: with one secret for all, a tenant could get any body signed that
        // others' receivers trust.
        List<SigningSecret> own =
                secrets.stream().map(secret -> secret.of(tenant)).toList();
        headers.putAll(SigningSecret.headers(own, "job_" + job.id(), clock.instant(), body));
        Duration limit = call.limit().compareTo(guard.longest()) > 0 ? guard.longest() : call.limit();
        return new OutboundCall(call.verb(), guard.check(String.valueOf(call.url())), headers, body, limit, tenant);
    }

    /**
     * Returns headers by which a receiver can detect a repetition, and refuse a run that lost its lease. The trace in
     * which the job was enqueued goes on with them.
     */
    public static Map<String, String> fence(JobContext job) {
        Map<String, String> headers = new TreeMap<>(Map.of(
                "Reprise-Job-Id", job.id().toString(),
                "Reprise-Attempt", Integer.toString(job.attempt()),
                "Reprise-Token", Long.toString(job.token())));
        TraceParent.in(job.job().spec().tags()).ifPresent(trace -> headers.put("traceparent", trace.text()));
        return headers;
    }

    /** Each call belongs to the trace of the attempt, also the later ones, which other threads make. */
    private CompletableFuture<OutboundAnswer> follow(
            OutboundCall call, Instant end, int hops, CompletableFuture<?> stop, Context trace) {
        return trace.wrapSupplier(() -> client.send(call, stop)).get().thenCompose(answer -> {
            URI next = next(answer, call);
            if (next == null) {
                return CompletableFuture.completedFuture(answer);
            }
            if (hops == MAX_REDIRECTS) {
                throw JobSignal.fail("More than " + MAX_REDIRECTS + " redirects, the last from "
                        + call.uri().getHost());
            }
            Duration left = Duration.between(clock.instant(), end);
            OutboundCall again =
                    new OutboundCall(call.method(), next, headers(call, next), call.body(), left, call.tenant());
            return follow(again, end, hops + 1, stop, trace);
        });
    }

    /** Returns the target of a redirect; null if the answer is final. The guard checks every step. */
    private @Nullable URI next(OutboundAnswer answer, OutboundCall call) {
        String location = answer.header("Location");
        boolean follows = SAME_METHOD.contains(answer.status())
                || (SAFE.contains(call.method()) && REDIRECTS.contains(answer.status()));
        if (!follows || location == null) {
            return null;
        }
        URI next;
        try {
            next = guard.check(call.uri().resolve(location).toString());
        } catch (IllegalArgumentException e) {
            throw JobSignal.fail("The redirect of " + call.uri().getHost() + " cannot be read");
        }
        if (isEncrypted(call.uri()) && !isEncrypted(next)) {
            throw JobSignal.fail("The redirect of " + call.uri().getHost() + " leads from https to http");
        }
        return next;
    }

    private static boolean isEncrypted(URI uri) {
        return "https".equalsIgnoreCase(uri.getScheme());
    }

    private static Map<String, String> headers(OutboundCall call, URI next) {
        boolean sameOrigin =
                String.valueOf(next.getHost()).equalsIgnoreCase(call.uri().getHost())
                        && OutboundGuard.port(next) == OutboundGuard.port(call.uri())
                        && isEncrypted(next) == isEncrypted(call.uri());
        if (sameOrigin) {
            return call.headers();
        }
        Map<String, String> left = new LinkedHashMap<>(call.headers());
        left.keySet().removeIf(name -> !HARMLESS.contains(name.toLowerCase(Locale.ROOT)));
        return left;
    }

    private RuntimeException unsuccessful(OutboundAnswer answer, OutboundCall call) {
        HttpStatusException failure =
                new HttpStatusException(answer, String.valueOf(call.uri().getHost()), clock.instant());
        // A redirect that was not followed is not followed next time either.
        return REDIRECTS.contains(answer.status()) ? JobSignal.fail(failure) : failure;
    }

    private static Map<String, Object> result(OutboundAnswer answer) {
        Map<String, Object> result = new LinkedHashMap<>();
        result.put("status", answer.status());
        String type = answer.header("Content-Type");
        if (type != null) {
            result.put("contentType", type);
        }
        result.put("body", answer.text());
        if (answer.isTruncated()) {
            result.put("truncated", true);
        }
        return result;
    }
}
