// SPDX-License-Identifier: Apache-2.0
package io.reprise.examples.mails;

// snippet:first
import io.reprise.JobContext;
import io.reprise.JobType;
import io.reprise.Reprise;
import io.reprise.spring.RepriseJob;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;

/** Takes mails over HTTP and sends them later. */
@RestController
public class MailController {

    public record Email(String to) {}

    private static final Logger log = LoggerFactory.getLogger(MailController.class);
    private static final JobType<Email> SEND = JobType.of("send-email", Email.class);

    private final Reprise reprise;

    MailController(Reprise reprise) {
        this.reprise = reprise;
    }

    @PostMapping("/mails")
    @Transactional
    public String accept(@RequestBody Email email) {
        return "job " + reprise.enqueue(SEND.job(email)) + "\n";
    }

    @RepriseJob("send-email")
    public void send(Email email, JobContext job) throws InterruptedException {
        log.info("Job {} begins, attempt {}", job.id(), job.attempt());
        Thread.sleep(20_000); // The mail server is slow.
        log.info("Job {} is done: mail to {}", job.id(), email.to());
    }
}
// end
