// SPDX-License-Identifier: Apache-2.0
package io.reprise.cli.demo;

import io.reprise.JobContext;
import io.reprise.JobRequest;
import io.reprise.JobType;
import io.reprise.RepriseBuilder;
import io.reprise.failure.FailureDetails;
import io.reprise.job.JobSignal;
import io.reprise.retry.RetryPolicy;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * The jobs of the demo. Each type fails in its own way. A run depends only on the job's id, its attempt and the time
 * since the start. All times scale with the length of the demo.
 */
final class DemoJobs {

    static final String MAIL = "demo/mail";
    static final String PAYMENTS = "demo/payments";
    static final String MEDIA = "demo/media";
    static final String REPORTS = "demo/reports";
    static final List<String> QUEUES = List.of(MAIL, PAYMENTS, MEDIA, REPORTS);

    /** The length of a demo in which the times below apply as written. */
    static final Duration FULL_LENGTH = Duration.ofSeconds(20);

    private static final double FLAKY = 0.3;
    private static final Duration OUTAGE = Duration.ofSeconds(6);
    private static final Duration OUTAGE_EVERY = Duration.ofSeconds(40);
    private static final String LOST_ORDER = "order-1013";

    record Email(String to) {}

    record Charge(String order, int cents) {}

    record Image(String path) {}

    record Feed(String url) {}

    record Report(String name) {}

    private final double scale;
    private volatile long startNanos = System.nanoTime();
    private final JobType<Email> sendEmail;
    private final JobType<Charge> chargeCard;
    private final JobType<Image> resizeImage;
    private final JobType<Feed> importFeed;
    private final JobType<Report> nightlyReport;
    private final JobType<Report> checkStock;
    private final JobType<Report> rebuildIndex;

    DemoJobs(Duration length) {
        scale = Math.min(1, (double) length.toNanos() / FULL_LENGTH.toNanos());
        sendEmail = JobType.of("send-email", Email.class).retry(policy(400, 4_000, 8));
        chargeCard = JobType.of("charge-card", Charge.class).retry(policy(600, 3_000, 12));
        resizeImage = JobType.of("resize-image", Image.class)
                .retry(policy(500, 4_000, 5))
                .timeout(scaled(700));
        importFeed = JobType.of("import-feed", Feed.class).retry(policy(500, 4_000, 5));
        nightlyReport = JobType.of("nightly-report", Report.class).retry(policy(500, 4_000, 3));
        checkStock = JobType.of("check-stock", Report.class).retry(policy(300, 2_000, 3));
        rebuildIndex = JobType.of("rebuild-index", Report.class).retry(policy(500, 4_000, 3));
    }

    private RetryPolicy policy(long baseMillis, long capMillis, int attempts) {
        return RetryPolicy.exponential(scaled(baseMillis))
                .cap(scaled(capMillis))
                .maxAttempts(attempts);
    }

    Duration scaled(long millis) {
        return Duration.ofMillis(Math.max(5, Math.round(millis * scale)));
    }

    /** Starts the clock: the first outage begins now. */
    void begin() {
        startNanos = System.nanoTime();
    }

    void register(RepriseBuilder builder) {
        builder.handle(sendEmail, this::send)
                .handle(chargeCard, this::charge)
                .handle(resizeImage, this::resize)
                .handle(importFeed, this::load)
                .handle(nightlyReport, this::report)
                .handle(checkStock, (stock, job) -> work(60))
                .handle(rebuildIndex, (index, job) -> work(2_500));
    }

    /** Returns the jobs that arrive at this step. From the second round on it leaves out those that are shown once. */
    List<JobRequest<?>> arrivals(int step) {
        List<JobRequest<?>> jobs = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            jobs.add(sendEmail
                    .job(new Email("user" + (2 * step + i) + "@example.org"))
                    .queue(MAIL));
        }
        String order = "order-" + (1010 + step);
        JobRequest<Charge> charge =
                chargeCard.job(new Charge(order, 1_990 + step)).queue(PAYMENTS);
        // The job that is lost names no resource: the breaker of the acquirer would spare its attempts.
        jobs.add(
                order.equals(LOST_ORDER)
                        ? charge.retry(RetryPolicy.unset().maxAttempts(4))
                        : charge.resource("acquirer"));
        if (step % 2 == 0) {
            jobs.add(resizeImage.job(new Image("photo-" + step + ".jpg")).queue(MEDIA));
        }
        if (step % 3 == 1) {
            jobs.add(importFeed
                    .job(new Feed("https://feeds.example.org/" + step))
                    .queue(MEDIA));
        }
        if (step % 6 == 0) {
            jobs.add(nightlyReport.job(new Report("sales")).queue(REPORTS));
        }
        return jobs;
    }

    /** Has a unique key: a second request while the job lives returns the same job. */
    JobRequest<?> index() {
        return rebuildIndex.job(new Report("products")).queue(REPORTS).key("index/products");
    }

    JobRequest<?> stockCheck() {
        return checkStock.job(new Report("stock")).queue(REPORTS);
    }

    private void send(Email email, JobContext job) throws IOException, InterruptedException {
        work(120);
        if (dice(job) < FLAKY) {
            throw new IOException("451 mailbox busy, try again later");
        }
    }

    private void charge(Charge charge, JobContext job) throws HttpFailure, InterruptedException {
        work(150);
        if (charge.order().equals(LOST_ORDER)) {
            throw new HttpFailure(502, "acquirer closed the connection", null);
        }
        long intoCycle = (System.nanoTime() - startNanos)
                % scaled(OUTAGE_EVERY.toMillis()).toNanos();
        if (intoCycle < scaled(OUTAGE.toMillis()).toNanos()) {
            throw new HttpFailure(503, "acquirer is down for maintenance", scaled(1_500));
        }
    }

    private void resize(Image image, JobContext job) throws InterruptedException {
        // The first run hangs until the timeout of the type ends it.
        if (job.attempt() > 1) {
            work(300);
            return;
        }
        try {
            work(60_000);
        } catch (InterruptedException e) {
            throw new InterruptedException("the image server did not answer");
        }
    }

    private void load(Feed feed, JobContext job) throws HttpFailure, InterruptedException {
        work(80);
        throw new HttpFailure(404, "feed not found", null);
    }

    private void report(Report report, JobContext job) throws InterruptedException {
        work(100);
        if (job.job().counts().snoozes() < 2) {
            throw JobSignal.snooze(scaled(2_000));
        }
        job.result("4711 orders");
    }

    private static double dice(JobContext job) {
        return new SplittableRandom(31 * job.id().value() + job.attempt()).nextDouble();
    }

    /** Stands for a call that takes time. */
    private void work(long millis) throws InterruptedException {
        Thread.sleep(scaled(millis).toMillis());
    }

    /** A failed answer of a service. */
    static final class HttpFailure extends Exception implements FailureDetails {

        private static final long serialVersionUID = 1L;

        private final int status;
        private final @Nullable Duration retryAfter;

        HttpFailure(int status, String message, @Nullable Duration retryAfter) {
            super(message);
            this.status = status;
            this.retryAfter = retryAfter;
        }

        @Override
        public Integer httpStatus() {
            return status;
        }

        @Override
        public @Nullable Duration retryAfter() {
            return retryAfter;
        }
    }
}
