// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.auth;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JOSEObjectType;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.KeySourceException;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.source.JWKSource;
import com.nimbusds.jose.proc.BadJOSEException;
import com.nimbusds.jose.proc.DefaultJOSEObjectTypeVerifier;
import com.nimbusds.jose.proc.JWSVerificationKeySelector;
import com.nimbusds.jose.proc.SecurityContext;
import com.nimbusds.jose.util.DefaultResourceRetriever;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.proc.DefaultJWTClaimsVerifier;
import com.nimbusds.jwt.proc.DefaultJWTProcessor;
import io.reprise.server.http.Caller;
import io.reprise.server.http.Json;
import io.reprise.server.http.Problem;
import io.reprise.server.http.ProblemType;
import io.reprise.server.http.Scope;
import java.io.IOException;
import java.net.MalformedURLException;
import java.net.URI;
import java.net.URL;
import java.text.ParseException;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.Collection;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.JsonNode;

/**
 * Lets in those for whom an OpenID provider vouches: bearer tokens that it has signed, for this server, not expired. What a token's holder
 * may do, and whose jobs, its claims say. Thread-safe.
 */
public final class Oidc {

    private static final Logger log = LoggerFactory.getLogger("io.reprise.server");
    private static final String DISCOVERY = "/.well-known/openid-configuration";
    private static final int TIMEOUT_MILLIS = 5_000;
    private static final int MAX_BYTES = 1 << 20;
    private static final int MAX_SHOWN = 45;
    private static final int HASHED = 12;

    /** Value of the tenant claim for a token that covers all tenants. */
    private static final String EVERYBODY = "*";

    private static final Pattern TENANT = Pattern.compile("[A-Za-z0-9][A-Za-z0-9_.-]{0,31}");

    /** Only asymmetric signatures: with a shared secret the server could make tokens itself. */
    private static final Set<JWSAlgorithm> ALGORITHMS = Set.of(
            JWSAlgorithm.RS256,
            JWSAlgorithm.RS384,
            JWSAlgorithm.RS512,
            JWSAlgorithm.PS256,
            JWSAlgorithm.PS384,
            JWSAlgorithm.PS512,
            JWSAlgorithm.ES256,
            JWSAlgorithm.ES384,
            JWSAlgorithm.ES512);

    /**
     * The trusted provider.
     *
     * @param issuer issuer of the tokens, as it names itself
     * @param audience audience that tokens must have
     * @param scopesClaim claim with the scopes: a list, or text with spaces between
     * @param tenantClaim claim with the tenant
     */
    public record Settings(String issuer, String audience, String scopesClaim, String tenantClaim) {}

    private final Settings settings;
    private final DefaultResourceRetriever retriever =
            new DefaultResourceRetriever(TIMEOUT_MILLIS, TIMEOUT_MILLIS, MAX_BYTES);
    private final DefaultJWTProcessor<SecurityContext> processor;

    public Oidc(Settings settings, InstantSource clock) {
        this.settings = settings;
        this.processor = made(new ProviderKeys(settings.issuer, this::keys, clock));
    }

    /**
     * Checks an issuer.
     *
     * @throws IllegalArgumentException saying why it cannot be trusted
     */
    public static void requireIssuer(String issuer) {
        URI uri = URI.create(issuer);
        boolean local = "localhost".equals(uri.getHost()) || "127.0.0.1".equals(uri.getHost());
        if (uri.getHost() == null || !("https".equals(uri.getScheme()) || (local && "http".equals(uri.getScheme())))) {
            throw new IllegalArgumentException("must be an https URL");
        }
    }

    /** Whether a text may be a token, rather than a key. */
    static boolean isToken(String bearer) {
        return bearer.startsWith("ey") && bearer.chars().filter(c -> c == '.').count() == 2;
    }

    /**
     * Returns the holder of a token; empty if the token is not valid, or its claims are incomplete.
     *
     * @throws Problem if the provider's keys cannot be read
     */
    Optional<Caller> caller(String token) {
        try {
            return caller(processor.process(token, null));
        } catch (KeySourceException e) {
            throw unavailable(e);
        } catch (ParseException | BadJOSEException | JOSEException e) {
            log.debug("A token was refused: {}", e.getMessage());
            return Optional.empty();
        }
    }

    private Optional<Caller> caller(JWTClaimsSet claims) {
        Object tenant = claims.getClaim(settings.tenantClaim);
        Set<Scope> scopes = scopes(claims.getClaim(settings.scopesClaim));
        if (!(tenant instanceof String name) || !(name.equals(EVERYBODY) || isTenant(name)) || scopes.isEmpty()) {
            log.debug("A token of {} was refused: its claims name no tenant, or no scope", claims.getSubject());
            return Optional.empty();
        }
        if (name.equals(EVERYBODY)) {
            return Optional.of(new Caller("user " + shown(claims.getSubject()) + " (oidc)", scopes, null));
        }
        // Keys belong to all tenants, so no tenant's token may manage them.
        scopes.remove(Scope.ADMIN);
        return Optional.of(
                new Caller("user " + shown(claims.getSubject()) + " (oidc" + Tenancy.of(name), scopes, name));
    }

    private static boolean isTenant(String name) {
        return TENANT.matcher(name).matches() && !Tenancy.RESERVED.contains(name);
    }

    /** A long one ends with a part of its hash: two that begin alike are still two in the audit log, and for limits. */
    private static String shown(String subject) {
        String plain = subject.replaceAll("\\p{C}", " ");
        return plain.equals(subject) && plain.length() <= MAX_SHOWN
                ? plain
                : plain.substring(0, Math.min(plain.length(), MAX_SHOWN - HASHED - 1))
                        + "~"
                        + ApiKey.hash(subject).substring(0, HASHED);
    }

    private static Set<Scope> scopes(@Nullable Object claim) {
        Set<Scope> scopes = EnumSet.noneOf(Scope.class);
        Collection<?> words = claim instanceof Collection<?> list
                ? list
                : Arrays.asList((claim instanceof String text ? text : "").split(" ", -1));
        for (Object word : words) {
            for (Scope scope : Scope.values()) {
                if (scope.text().equals(String.valueOf(word).toLowerCase(Locale.ROOT))) {
                    scopes.add(scope);
                }
            }
        }
        return scopes;
    }

    /** The provider's keys, from where it says that they are. */
    private JWKSet keys() throws IOException {
        try {
            return JWKSet.parse(retriever.retrieveResource(address()).getContent());
        } catch (ParseException e) {
            throw new IOException("its keys cannot be read: " + e.getMessage(), e);
        }
    }

    private URL address() throws IOException {
        String base = settings.issuer.replaceAll("/+$", "");
        JsonNode found =
                Json.parse(retriever.retrieveResource(new URL(base + DISCOVERY)).getContent());
        if (!settings.issuer.equals(found.path("issuer").stringValue(""))) {
            throw new IOException("it calls itself " + found.path("issuer"));
        }
        String keys = found.path("jwks_uri").stringValue("");
        try {
            requireIssuer(keys);
            return new URL(keys);
        } catch (IllegalArgumentException | MalformedURLException e) {
            throw new IOException("its keys are nowhere: " + keys, e);
        }
    }

    private DefaultJWTProcessor<SecurityContext> made(JWKSource<SecurityContext> keys) {
        DefaultJWTProcessor<SecurityContext> made = new DefaultJWTProcessor<>();
        made.setJWSTypeVerifier(
                new DefaultJOSEObjectTypeVerifier<>(JOSEObjectType.JWT, new JOSEObjectType("at+jwt"), null));
        made.setJWSKeySelector(new JWSVerificationKeySelector<>(ALGORITHMS, keys));
        made.setJWTClaimsSetVerifier(new DefaultJWTClaimsVerifier<>(
                settings.audience,
                new JWTClaimsSet.Builder().issuer(settings.issuer).build(),
                Set.of("sub", "exp")));
        return made;
    }

    private static Problem unavailable(Exception cause) {
        Problem problem = Problem.of(ProblemType.UNAVAILABLE, "The issuer of tokens does not answer; try again")
                .header("Retry-After", "5");
        problem.addSuppressed(cause);
        return problem;
    }
}
