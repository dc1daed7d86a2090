package user;

import io.reprise.JobType;
import io.reprise.Reprise;
import io.reprise.jdbc.JdbcJobStore;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;

public final class Main {

    public record Email(String to, Instant at) {}

    public static void main(String[] arguments) {
        JobType<Email> send = JobType.of("send", Email.class);
        try (Reprise reprise = Reprise.builder()
                .store(JdbcJobStore.sqlite(Path.of(arguments[0])))
                .handle(send, (email, job) -> {})
                .start()) {
            System.out.println(reprise.await(
                    reprise.enqueue(send.job(new Email("ada@example.org", Instant.EPOCH))), Duration.ofMinutes(1)));
        }
    }
}
