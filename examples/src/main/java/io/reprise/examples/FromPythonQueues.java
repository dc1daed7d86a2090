// SPDX-License-Identifier: Apache-2.0
package io.reprise.examples;

import io.reprise.JobType;
import io.reprise.Reprise;
import io.reprise.job.JobId;
import io.reprise.retry.RetryPolicy;
import java.net.ConnectException;
import java.net.SocketTimeoutException;
import java.time.Duration;

/** For users of OmniQ, Stent and Celery: a task of each as a job. */
public final class FromPythonQueues {

    // snippet:omniq
    static final JobType<String> PROCESS = JobType.of("process_data", String.class)
            .timeout(Duration.ofSeconds(30))
            .retry(RetryPolicy.preset("omniq").maxRetries(5));
    // end
    // snippet:stent
    static final JobType<String> FETCH = JobType.of("fetch_data", String.class)
            .retry(RetryPolicy.exponential(Duration.ofMillis(500))
                    .maxAttempts(5)
                    .retryOn(ConnectException.class, SocketTimeoutException.class));
    // end
    // snippet:celery
    static final JobType<String> CRAWL = JobType.of("crawl", String.class)
            .retry(RetryPolicy.exponential(Duration.ofSeconds(1))
                    .cap(Duration.ofMinutes(10))
                    .maxRetries(5)
                    .retryOn(ConnectException.class));
    // end

    private FromPythonQueues() {}

    public static void main(String[] args) {
        try (Reprise reprise = Reprise.builder()
                .store(Example.store())
                .handle(PROCESS, (data, job) -> job.result(data.length()))
                .handle(FETCH, (url, job) -> {
                    throw new IllegalArgumentException("not a URL: " + url);
                })
                .handle(CRAWL, (url, job) -> {
                    if (job.attempt() == 1) throw new ConnectException("refused");
                })
                .start()) {
            // snippet:enqueue
            JobId processed = reprise.enqueue(PROCESS.job("data"));
            JobId fetched = reprise.enqueue(FETCH.job("example").idempotencyKey("fetch-17"));
            JobId crawled = reprise.enqueue(CRAWL.job("example").after(Duration.ofMillis(10)));
            // end
            Example.check(reprise.await(processed, Example.SOON).succeeded(), "OmniQ's task is done");
            Example.check(
                    !reprise.await(fetched, Example.SOON).succeeded(), "retry_for: other errors are dead at once");
            Example.check(reprise.await(crawled, Example.SOON).succeeded(), "Celery's task is done in the second try");
        }
    }
}
