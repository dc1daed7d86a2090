// SPDX-License-Identifier: Apache-2.0
package io.reprise.testkit;

import io.reprise.Job;
import io.reprise.JobId;
import io.reprise.JobSpec;
import io.reprise.store.Claim;
import io.reprise.store.ClaimRequest;
import io.reprise.store.ClaimRequest.Demand;
import io.reprise.store.Suspects;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Set;

/** Claim requests with defaults for everything, and views of claimed jobs. */
public final class Claims {

    /** A lease that does not end while a test runs. */
    public static final Duration LONG = Duration.ofDays(1);

    private String worker = "worker-1";
    private Duration lease = LONG;
    private int max = 100;
    private List<Demand> demands = List.of(new Demand(JobSpec.DEFAULT_QUEUE, 100));
    private double retryShare = 0.2;
    private Suspects suspects = Suspects.upTo(1);
    private Set<String> types = Set.of();
    private boolean others;
    private boolean remote;

    private Claims() {}

    /** Requests up to this many jobs of the default queue, and one suspect, under a long lease. */
    public static Claims upTo(int max) {
        Claims claims = new Claims();
        claims.max = max;
        return claims;
    }

    public Claims by(String name) {
        worker = name;
        return this;
    }

    public Claims lease(Duration duration) {
        lease = duration;
        return this;
    }

    /** Requests from these queues, in this order, without limits of their own. */
    public Claims from(String... queues) {
        demands = Arrays.stream(queues).map(queue -> new Demand(queue, 100)).toList();
        return this;
    }

    public Claims demands(Demand... each) {
        demands = List.of(each);
        return this;
    }

    public Claims retryShare(double share) {
        retryShare = share;
        return this;
    }

    public Claims suspects(boolean wanted) {
        return suspects(wanted ? Suspects.upTo(1) : Suspects.NONE);
    }

    public Claims suspects(Suspects wanted) {
        suspects = wanted;
        return this;
    }

    public Claims types(String... names) {
        types = Set.of(names);
        return this;
    }

    /** Requests any types but these. */
    public Claims typesBut(String... names) {
        others = true;
        return types(names);
    }

    /** Marks the claim as one for a remote worker, which may never receive the lease. */
    public Claims remote() {
        remote = true;
        return this;
    }

    public ClaimRequest build() {
        return new ClaimRequest(worker, lease, max, demands, retryShare, suspects, types, others, remote);
    }

    public static List<Job> jobs(List<Claim> claims) {
        return claims.stream().flatMap(claim -> claim.jobs().stream()).toList();
    }

    public static List<JobId> ids(List<Claim> claims) {
        return jobs(claims).stream().map(Job::id).toList();
    }
}
