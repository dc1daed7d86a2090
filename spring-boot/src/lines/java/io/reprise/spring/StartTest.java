// SPDX-License-Identifier: Apache-2.0
package io.reprise.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.reprise.JobContext;
import io.reprise.JobType;
import io.reprise.Reprise;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobState;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.assertj.core.api.AbstractThrowableAssert;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.jdbc.DataSourceBuilder;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.retry.annotation.Retryable;

/** How an application with the starter starts, refuses to start, and stops. */
@ExtendWith(OutputCaptureExtension.class)
class StartTest {

    private static final JobType<String> WORK = JobType.of("work", String.class);
    private static final Duration LONG = Duration.ofMinutes(1);
    private static String url;

    @BeforeAll
    static void database() {
        url = Contexts.freshUrl();
    }

    @Configuration
    static class Worker {
        final CountDownLatch started = new CountDownLatch(1);
        final CountDownLatch released = new CountDownLatch(1);

        @RepriseJob(value = "work", queue = "${work.queue:busy}", resource = "api", timeout = "1m", retry = "one-shot")
        String work(String text, JobContext job) throws InterruptedException {
            if (text.equals("wait")) {
                started.countDown();
                released.await(30, TimeUnit.SECONDS);
            }
            return "done " + text;
        }
    }

    @Test
    void a_method_is_a_handler_and_its_attributes_are_those_of_its_jobs() {
        try (ConfigurableApplicationContext context = Contexts.start(url, Worker.class)) {
            Reprise reprise = context.getBean(Reprise.class);
            JobId id = reprise.enqueue(WORK.job("x"));
            assertThat(reprise.await(id, LONG).result(String.class)).isEqualTo("done x");
            Job job = reprise.find(id).orElseThrow();
            assertThat(job.queue()).isEqualTo("busy");
            assertThat(job.spec().resource()).isEqualTo("api");
            assertThat(job.spec().timeout()).isEqualTo(Duration.ofMinutes(1));
            assertThat(job.policy().maxAttempts().toOptional()).hasValue(1);
        }
    }

    @Test
    void properties_of_a_type_win_over_the_annotation_and_a_job_over_both() {
        try (ConfigurableApplicationContext context = Contexts.start(
                url,
                Worker.class,
                "reprise.types.work.queue=other",
                "reprise.types.work.retry.max-attempts=3",
                "reprise.worker.concurrency=2")) {
            Reprise reprise = context.getBean(Reprise.class);
            Job job = reprise.find(reprise.enqueue(WORK.job("x"))).orElseThrow();
            assertThat(job.queue()).isEqualTo("other");
            assertThat(job.policy().maxAttempts().toOptional()).hasValue(3);
            Job own = reprise.find(reprise.enqueue(WORK.job("x").queue("mine"))).orElseThrow();
            assertThat(own.queue()).isEqualTo("mine");
        }
    }

    @Test
    void a_shutdown_lets_running_jobs_finish_and_the_store_closes_last() throws Exception {
        JobId id;
        String separate = Contexts.freshUrl();
        ConfigurableApplicationContext context = Contexts.start(separate, Worker.class);
        Reprise reprise = context.getBean(Reprise.class);
        Worker worker = context.getBean(Worker.class);
        id = reprise.enqueue(WORK.job("wait"));
        assertThat(worker.started.await(30, TimeUnit.SECONDS)).isTrue();
        Thread closing = new Thread(context::close);
        closing.start();
        worker.released.countDown();
        closing.join(60_000);
        assertThat(closing.isAlive()).isFalse();
        assertThatIllegalStateException()
                .isThrownBy(() -> reprise.enqueue(WORK.job("late")))
                .withMessageContaining("closed");
        try (ConfigurableApplicationContext again =
                Contexts.start(separate, Worker.class, "reprise.worker.enabled=false", "reprise.schema=validate")) {
            assertThat(again.getBean(Reprise.class).find(id).orElseThrow().state())
                    .isEqualTo(JobState.SUCCEEDED);
        }
    }

    @Test
    void a_web_only_process_enqueues_what_another_process_runs() {
        String shared = Contexts.freshUrl();
        try (ConfigurableApplicationContext web = Contexts.start(shared, Object.class, "reprise.worker.enabled=false");
                ConfigurableApplicationContext worker = Contexts.start(shared, Worker.class)) {
            assertThat(web.getBean(Reprise.class).isWorking()).isFalse();
            JobId id = web.getBean(Reprise.class).enqueue(WORK.job("x").queue("busy"));
            assertThat(worker.getBean(Reprise.class).await(id, LONG).succeeded())
                    .isTrue();
        }
    }

    @Test
    void a_stopped_context_can_start_again() {
        try (ConfigurableApplicationContext context = Contexts.start(url, Worker.class)) {
            context.stop();
            Reprise reprise = context.getBean(Reprise.class);
            assertThat(reprise.isWorking()).isFalse();
            JobId id = reprise.enqueue(WORK.job("x"));
            context.start();
            assertThat(reprise.await(id, LONG).succeeded()).isTrue();
        }
    }

    private static AbstractThrowableAssert<?, ? extends Throwable> refused(Class<?> beans, String... properties) {
        Throwable thrown =
                catchThrowable(() -> Contexts.start(url, beans, properties).close());
        assertThat(thrown).isNotNull();
        return assertThat(NestedExceptionUtils.getMostSpecificCause(thrown))
                .isInstanceOf(RepriseConfigurationException.class);
    }

    static class Second {
        @RepriseJob("work")
        void again(String text) {}
    }

    @Configuration
    @Import({Worker.class, Second.class})
    static class Twice {}

    @Test
    void two_handlers_for_one_type_are_refused() {
        refused(Twice.class).hasMessageContaining("Two handlers").hasMessageContaining("'work'");
    }

    static class WrongPolicy {
        @RepriseJob(value = "work", retry = "patient")
        void work(String text) {}
    }

    @Test
    void a_policy_that_is_neither_bean_nor_preset_is_refused() {
        refused(WrongPolicy.class).hasMessageContaining("\"patient\"").hasMessageContaining("one-shot");
    }

    static class WrongParameters {
        @RepriseJob("work")
        void work(String text, int more, JobContext job) {}

        @RepriseJob("generic")
        void generic(List<String> texts) {}

        @RepriseJob("hidden")
        private void hidden() {}
    }

    @Test
    void a_method_that_cannot_be_called_is_refused_and_all_problems_are_named_at_once() {
        refused(WrongParameters.class)
                .hasMessageContaining("must take a payload and a JobContext")
                .hasMessageContaining("type arguments")
                .hasMessageContaining("private");
    }

    @Test
    void unknown_names_in_properties_are_refused_with_the_property() {
        refused(Worker.class, "reprise.types.wrok.queue=x").hasMessageContaining("reprise.types.wrok");
        refused(Worker.class, "reprise.retry.preset=patient").hasMessageStartingWith("reprise.retry.preset=patient: ");
        refused(Worker.class, "reprise.types.work.retry.preset=patient")
                .hasMessageStartingWith("reprise.types.work.retry.preset=patient: ");
        refused(Worker.class, "reprise.types.far.elsewhere=true", "reprise.types.far.resource=nowhere")
                .hasMessageContaining("reprise.types.far.resource=nowhere");
        refused(Worker.class, "reprise.schedules.monthly.cron=0 0 1 * *")
                .hasMessageContaining("reprise.schedules.monthly")
                .hasMessageContaining("remove the property");
        refused(Worker.class, "reprise.store.datasource=missing")
                .hasMessageContaining("reprise.store.datasource=missing")
                .hasMessageContaining("write one of [dataSource]");
        refused(Worker.class, "reprise.store.datasource=transactionManager")
                .hasMessageContaining("reprise.store.datasource=transactionManager")
                .hasMessageContaining("write one of [dataSource]");
    }

    @Test
    void properties_that_reprise_does_not_have_are_refused_together_with_what_to_write() {
        refused(
                        Worker.class,
                        "reprise.wroker.lease=1m",
                        "reprise.worker.concurency=5",
                        "reprise.types.work.retry.attempts=3",
                        "reprise.dashboard.pth=/jobs",
                        "reprise.worker.concurrency=0")
                .hasMessageContaining("reprise.wroker.lease: ")
                .hasMessageContaining("After 'reprise.' write one of [dashboard, enabled, keep,")
                .hasMessageContaining("reprise.worker.concurency: ")
                .hasMessageContaining("After 'reprise.worker.' write one of [concurrency, enabled,")
                .hasMessageContaining("stop-grace]")
                .hasMessageContaining("reprise.types.work.retry.attempts: ")
                .hasMessageContaining("max-attempts")
                .hasMessageContaining("reprise.dashboard.pth: ")
                .hasMessageContaining("[authorities, enabled, path]")
                .hasMessageContaining("reprise.worker.concurrency: concurrency must be 1 to");
    }

    @Test
    void every_way_to_write_a_property_that_spring_knows_is_accepted() {
        try (ConfigurableApplicationContext context = Contexts.start(
                url,
                Worker.class,
                "reprise.worker.stopGrace=1s",
                "reprise.worker.queues[0]=busy",
                "reprise.worker.queues[1]=default",
                "reprise.types[work].retry.max_attempts=3",
                "reprise.types.[far.away].elsewhere=true",
                "reprise.dashboard.authorities.read[0]=ROLE_SUPPORT")) {
            Reprise reprise = context.getBean(Reprise.class);
            Job job = reprise.find(reprise.enqueue(WORK.job("x"))).orElseThrow();
            assertThat(job.policy().maxAttempts().toOptional()).hasValue(3);
            assertThat(reprise.enqueue(
                            JobType.of("far.away", String.class).job("x").queue("nobody")))
                    .isNotNull();
        }
    }

    static class Scheduled {
        @RepriseSchedule(name = "nightly", cron = "${nightly.cron:0 3 * * *}", zone = "${nightly.zone:UTC}")
        void nightly() {}
    }

    @Test
    void a_rule_that_cannot_be_read_is_refused_with_its_place() {
        refused(Scheduled.class, "nightly.zone=Europe/Berln")
                .hasMessageContaining("Scheduled.nightly")
                .hasMessageContaining("'Europe/Berln' is no time zone");
        refused(Scheduled.class, "reprise.schedules.nightly.zone=Europe/Berln")
                .hasMessageStartingWith("reprise.schedules.nightly: ");
        refused(Scheduled.class, "reprise.schedules.nightly.cron=at three")
                .hasMessageStartingWith("reprise.schedules.nightly: ")
                .hasMessageContaining("at three");
        refused(Scheduled.class, "nightly.cron=${missing}")
                .hasMessageContaining("Scheduled.nightly")
                .hasMessageContaining("missing");
    }

    @Test
    void a_type_without_handler_is_refused_at_the_call_unless_it_is_handled_elsewhere() {
        JobType<String> far = JobType.of("far", String.class);
        try (ConfigurableApplicationContext context = Contexts.start(url, Worker.class)) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> context.getBean(Reprise.class).enqueue(far.job("x")))
                    .withMessageContaining("@RepriseJob(\"far\")")
                    .withMessageContaining("reprise.types.far.elsewhere=true");
        }
        try (ConfigurableApplicationContext context =
                Contexts.start(url, Worker.class, "reprise.types.far.elsewhere=true")) {
            assertThat(context.getBean(Reprise.class).enqueue(far.job("x"))).isNotNull();
        }
    }

    @Configuration
    @Import(Worker.class)
    static class TwoSources {
        @Bean
        DataSource first() {
            return DataSourceBuilder.create().url(url).build();
        }

        @Bean
        DataSource second() {
            return DataSourceBuilder.create().url(url).build();
        }
    }

    @Test
    void two_data_sources_need_a_choice() {
        refused(TwoSources.class)
                .hasMessageContaining("reprise.store.datasource")
                .hasMessageContaining("first");
        try (ConfigurableApplicationContext context =
                Contexts.start(url, TwoSources.class, "reprise.store.datasource=second")) {
            Reprise reprise = context.getBean(Reprise.class);
            assertThat(reprise.await(reprise.enqueue(WORK.job("x")), LONG).succeeded())
                    .isTrue();
        }
    }

    static class TransactionalWithoutManager {
        @RepriseJob(value = "work", transactional = true)
        public void work(String text) {}
    }

    @Test
    void a_transaction_manager_that_is_not_there_is_refused() {
        refused(TransactionalWithoutManager.class, "reprise.store.transaction-manager=missing")
                .hasMessageContaining("reprise.store.transaction-manager=missing")
                .hasMessageContaining("write one of [transactionManager]");
        refused(TransactionalWithoutManager.class, "reprise.store.transaction-manager=dataSource")
                .hasMessageContaining("write one of [transactionManager]");
    }

    static class TwiceRetried {
        @Retryable
        @RepriseJob("work")
        public void work(String text) {}
    }

    @Test
    void a_handler_that_is_also_retryable_is_warned_of(CapturedOutput output) {
        Contexts.start(url, TwiceRetried.class).close();
        assertThat(output)
                .contains("TwiceRetried.work")
                .contains("is also @Retryable")
                .contains("retryable-handler");
    }

    @Test
    void the_failure_analyzer_shows_the_sentence() {
        assertThat(new RepriseFailureAnalyzer()
                        .analyze(new IllegalStateException(new RepriseConfigurationException("write this")))
                        .getDescription())
                .contains("write this");
    }
}
