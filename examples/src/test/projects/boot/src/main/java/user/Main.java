package user;

import io.micrometer.core.instrument.MeterRegistry;
import io.reprise.JobType;
import io.reprise.Reprise;
import io.reprise.spring.RepriseJob;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.locks.LockSupport;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootVersion;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.ConfigurableApplicationContext;

@SpringBootApplication
public class Main {

    public record Email(String to, Instant at) {}

    @RepriseJob("send")
    void send(Email email) {}

    public static void main(String[] arguments) {
        JobType<Email> send = JobType.of("send", Email.class);
        try (ConfigurableApplicationContext context =
                SpringApplication.run(Main.class, "--spring.datasource.url=jdbc:sqlite:" + arguments[0])) {
            Reprise reprise = context.getBean(Reprise.class);
            System.out.println(reprise.await(
                    reprise.enqueue(send.job(new Email("ada@example.org", Instant.EPOCH))), Duration.ofMinutes(1)));
            // A run is counted after its outcome is stored, so the meter may come a moment later.
            MeterRegistry meters = context.getBean(MeterRegistry.class);
            for (int looks = 0; looks < 60_000 && meters.find("reprise.succeeded").counters().isEmpty(); looks++) {
                LockSupport.parkNanos(1_000_000);
            }
            System.out.println("Spring Boot " + SpringBootVersion.getVersion() + ", "
                    + meters.get("reprise.succeeded").counters().size() + " meter");
        }
    }
}
