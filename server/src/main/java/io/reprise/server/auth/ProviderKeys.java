// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.auth;

import com.nimbusds.jose.KeySourceException;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.JWKSelector;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.source.JWKSource;
import com.nimbusds.jose.proc.SecurityContext;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The keys of an OpenID provider, as it gave them last. A thread of its own asks the provider, one question at a time. Few requests wait for the
 * answer, so a provider that hangs holds up neither API keys nor tokens whose key is known, whatever strangers send. Thread-safe.
 */
final class ProviderKeys implements JWKSource<SecurityContext> {

    private static final Logger log = LoggerFactory.getLogger("io.reprise.server");
    private static final Duration ASK_AGAIN = Duration.ofSeconds(5);

    /** Keys of this age are asked for again, while the old ones count. */
    private static final Duration FRESH = Duration.ofMinutes(5);

    /** A token may name a key that the provider made since; anybody can make up such a token, so the provider is not asked for each. */
    private static final Duration ASK_FOR_UNKNOWN = Duration.ofSeconds(30);

    private static final Duration WITHOUT_PROVIDER = Duration.ofHours(4);
    private static final int MAX_WAITING = 4;
    private static final long PATIENCE_SECONDS = 15;

    /** Asks the provider. */
    interface Question {
        JWKSet ask() throws IOException;
    }

    private record Known(JWKSet keys, Instant at) {}

    private final String issuer;
    private final Question question;
    private final InstantSource clock;
    private final Semaphore waiting = new Semaphore(MAX_WAITING);
    private volatile @Nullable Known known;
    private @Nullable CompletableFuture<Known> answer;
    private Instant askedAt = Instant.MIN;

    ProviderKeys(String issuer, Question question, InstantSource clock) {
        this.issuer = issuer;
        this.question = question;
        this.clock = clock;
    }

    @Override
    public List<JWK> get(JWKSelector selector, @Nullable SecurityContext context) throws KeySourceException {
        Known last = known;
        Duration age = last == null ? WITHOUT_PROVIDER : Duration.between(last.at, clock.instant());
        if (last == null || age.compareTo(WITHOUT_PROVIDER) >= 0) {
            return selector.select(await(ask(ASK_AGAIN)).keys);
        }
        if (age.compareTo(FRESH) >= 0) {
            CompletableFuture<Known> unused = ask(ASK_AGAIN);
        }
        List<JWK> found = selector.select(last.keys);
        CompletableFuture<Known> next = found.isEmpty() ? ask(ASK_FOR_UNKNOWN) : null;
        return next == null ? found : selector.select(await(next).keys);
    }

    /** The answer to come; null if the provider was asked a moment ago. */
    private synchronized @Nullable CompletableFuture<Known> ask(Duration rest) {
        CompletableFuture<Known> running = answer;
        if (running != null && !running.isDone()) {
            return running;
        }
        Instant now = clock.instant();
        if (now.isBefore(askedAt.plus(rest))) {
            return null;
        }
        askedAt = now;
        CompletableFuture<Known> next = new CompletableFuture<>();
        answer = next;
        Thread thread = new Thread(() -> find(next), "reprise-oidc");
        thread.setDaemon(true);
        thread.start();
        return next;
    }

    private void find(CompletableFuture<Known> result) {
        try {
            Known found = new Known(question.ask(), clock.instant());
            known = found;
            result.complete(found);
        } catch (IOException | RuntimeException e) {
            log.warn("The keys of the issuer of tokens, {}, cannot be had: {}", issuer, e.getMessage());
            result.completeExceptionally(e);
        }
    }

    private Known await(@Nullable CompletableFuture<Known> next) throws KeySourceException {
        if (next == null) {
            throw new KeySourceException("The provider did not answer a moment ago");
        }
        if (!waiting.tryAcquire()) {
            throw new KeySourceException("Others wait for the provider already");
        }
        try {
            return next.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        } catch (ExecutionException | TimeoutException e) {
            throw new KeySourceException("The provider does not answer", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new KeySourceException("Nobody waits for the provider any more", e);
        } finally {
            waiting.release();
        }
    }
}
