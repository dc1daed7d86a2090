// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.lease;

import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.remote.RemoteLease;
import io.reprise.remote.StaleLeaseException;
import io.reprise.server.api.Api;
import io.reprise.server.auth.StoreSecret;
import io.reprise.server.auth.Tenancy;
import io.reprise.server.delivery.HttpDelivery;
import io.reprise.server.http.Caller;
import io.reprise.server.http.Problem;
import io.reprise.server.http.Request;
import io.reprise.server.http.Schema;
import io.reprise.server.webhook.WebhookDelivery;
import java.util.List;
import java.util.function.Consumer;

/**
 * Tokens with which a remote worker reports a run: the key of the lease with a signature behind it,
 * because numbers can be guessed.
 */
final class LeaseTokens {

    /** Types that the server runs itself. Their payloads were given to the server only. */
    static final List<String> OWN = List.of(HttpDelivery.TYPE.name(), WebhookDelivery.TYPE.name());

    static final Schema SCHEMA =
            Schema.text(1, 60).matching("[0-9]+-[0-9]+(-p)?-[0-9a-f]{20}").about("a lease token");

    private final StoreSecret secret;

    LeaseTokens(StoreSecret secret) {
        this.secret = secret;
    }

    String of(RemoteLease.Key key) {
        return key.text() + "-" + secret.mark(key.text());
    }

    /**
     * Returns the key in a token.
     *
     * @throws Problem if the text is no token
     * @throws StaleLeaseException if the signature is wrong
     */
    RemoteLease.Key key(String token) {
        int end = token.lastIndexOf('-');
        RemoteLease.Key key;
        try {
            key = RemoteLease.Key.parse(token.substring(0, Math.max(0, end)));
        } catch (IllegalArgumentException e) {
            throw Problem.invalid("token", "must be a lease token");
        }
        if (!secret.isMark(token.substring(end + 1), token.substring(0, end))) {
            throw gone(key.job());
        }
        return key;
    }

    /** Returns the key in the path of a request. Another tenant's lease is treated as missing. */
    RemoteLease.Key key(Api api, Request request) {
        RemoteLease.Key key = key(request.path("token"));
        api.store().find(key.job()).ifPresent(mayReport(request.caller()));
        return key;
    }

    /** Refuses jobs that are not the caller's. Another tenant's lease is treated as missing. */
    static Consumer<Job> mayReport(Caller caller) {
        Tenancy tenancy = Tenancy.of(caller);
        return job -> {
            if (!tenancy.owns(job.queue()) || OWN.contains(job.type())) {
                throw gone(job.id());
            }
            caller.bounds().require(tenancy.shown(job.queue()), job.type());
        };
    }

    private static StaleLeaseException gone(JobId job) {
        return new StaleLeaseException("The lease of job " + job + " is gone, and nothing was changed");
    }
}
