// SPDX-License-Identifier: Apache-2.0
package io.reprise.store;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The order in which a claim takes jobs, for those who write stores: queue by queue as the request names them, and
 * suspects before a batch.
 *
 * @since 0.1.0
 */
public final class ClaimPlan {

    /**
     * Claims jobs of one queue.
     *
     * @param <X> what it may throw
     */
    public interface FromQueue<X extends Exception> {

        /**
         * Claims jobs of one queue.
         *
         * @param room jobs at most; 1 or more
         * @param suspects suspects at most, under the same limit
         */
        List<Claim> claim(String queue, int room, Suspects suspects) throws X;
    }

    /**
     * Claims one lease of a queue.
     *
     * @param <X> what it may throw
     */
    public interface Lease<X extends Exception> {

        /**
         * Claims up to so many jobs.
         *
         * @return null if there are none
         */
        @Nullable
        Claim claim(int room) throws X;
    }

    /**
     * Finds the types of a queue whose limits are reached.
     *
     * @param <X> what it may throw
     */
    public interface FullTypes<X extends Exception> {

        /** Returns the types of which no job may start now. */
        Set<String> of(ClaimRequest.Demand demand) throws X;
    }

    private ClaimPlan() {}

    /**
     * Claims without types whose limits are reached, so that a claim does not read past their jobs. What it finds must
     * be checked again when it is claimed.
     *
     * @throws X if the search does
     */
    public static <X extends Exception> List<Claim> withoutFullTypes(
            ClaimRequest request, FullTypes<X> full, Function<ClaimRequest, List<Claim>> claim) throws X {
        if (request.demands().stream().noneMatch(demand -> demand.rules().isLimitedByType())) {
            return claim.apply(request);
        }
        List<Claim> claims = new ArrayList<>();
        int left = request.max();
        Suspects suspects = request.suspects();
        for (int from = 0; from < request.demands().size() && left > 0; ) {
            Set<String> types = full(request.demands().get(from), full);
            int to = from + 1;
            while (to < request.demands().size()
                    && full(request.demands().get(to), full).equals(types)) {
                to++;
            }
            ClaimRequest narrowed = request.of(request.demands().subList(from, to), left, suspects)
                    .without(types);
            for (Claim some : narrowed == null ? List.<Claim>of() : claim.apply(narrowed)) {
                claims.add(some);
                left -= some.jobs().size();
                suspects = some.together() > 0 ? suspects.after(some) : suspects;
            }
            from = to;
        }
        return claims;
    }

    private static <X extends Exception> Set<String> full(ClaimRequest.Demand demand, FullTypes<X> full) throws X {
        return demand.rules().isLimitedByType() ? full.of(demand) : Set.of();
    }

    /**
     * Claims from the queues of a request in their order, until it has all jobs that the request asks for.
     *
     * @throws X if a claim does; the claims before it are lost to the caller
     */
    public static <X extends Exception> List<Claim> overQueues(ClaimRequest request, FromQueue<X> from) throws X {
        List<Claim> claims = new ArrayList<>();
        int left = request.max();
        Suspects suspects = request.suspects();
        for (ClaimRequest.Demand demand : request.demands()) {
            int room = Math.min(left, demand.max());
            if (room > 0) {
                for (Claim claim : from.claim(demand.queue(), room, suspects)) {
                    claims.add(claim);
                    left -= claim.jobs().size();
                    suspects = claim.together() > 0 ? suspects.after(claim) : suspects;
                }
            }
        }
        return claims;
    }

    /**
     * Claims suspects of a queue, and a batch in the room that they leave.
     *
     * @param room jobs at most; nothing is claimed if it is less than 1
     * @throws X if a claim does
     */
    public static <X extends Exception> List<Claim> suspectsFirst(
            int room, Suspects suspects, Lease<X> group, Lease<X> batch) throws X {
        List<Claim> claims = new ArrayList<>(2);
        int most = Math.min(room, suspects.max());
        Claim first = most > 0 ? group.claim(most) : null;
        if (first != null) {
            claims.add(first);
        }
        int rest = room - (first == null ? 0 : first.jobs().size());
        Claim second = rest > 0 ? batch.claim(rest) : null;
        if (second != null) {
            claims.add(second);
        }
        return claims;
    }
}
