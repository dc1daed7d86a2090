// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import io.reprise.internal.run.Interceptors;
import io.reprise.internal.settle.Chain;
import io.reprise.internal.settle.PolicyLayers;
import io.reprise.job.JobSpec;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/** Makes the job to store from a request: encodes the payload, joins the policies, and does the same for its chain. */
record RequestBinder(PayloadCodec codec, Interceptors interceptors, PolicyLayers policies)
        implements Function<JobRequest<?>, JobSpec> {

    @Override
    public JobSpec apply(JobRequest<?> request) {
        JobSpec spec = alone(request);
        if (request.followers().isEmpty()) {
            return spec;
        }
        List<Chain.Link> links = new ArrayList<>();
        add(links, Chain.CARRIER, request);
        return spec.toBuilder().chain(new Chain(null, links).toJson()).build();
    }

    private JobSpec alone(JobRequest<?> request) {
        return policies.bind(
                interceptors.onRequest(request.toSpec(codec)), request.type().policy());
    }

    private void add(List<Chain.Link> links, int of, JobRequest<?> request) {
        for (JobRequest.Follower follower : request.followers()) {
            if (links.size() == Chain.MAX_LINKS) {
                throw new IllegalArgumentException("More than " + Chain.MAX_LINKS + " jobs follow the '"
                        + request.type().name() + "' job; store the later ones when they are due");
            }
            links.add(new Chain.Link(of, follower.whenDead(), alone(follower.job())));
            add(links, links.size() - 1, follower.job());
        }
    }
}
