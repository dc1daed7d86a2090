// SPDX-License-Identifier: Apache-2.0
package io.reprise.examples.operations;

import io.reprise.JobType;
import io.reprise.Operations;
import io.reprise.Replay;
import io.reprise.Reprise;
import io.reprise.examples.Example;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.retry.FailReason;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Replaying a dead letter: as it was, as a new job, in another queue, with a corrected payload. */
public final class Replays {

    record Parcel(String city) {}

    private static final JobType<Parcel> SHIP = JobType.of("ship", Parcel.class);

    private Replays() {}

    public static void main(String[] args) {
        Set<String> known = ConcurrentHashMap.newKeySet();
        known.add("Oslo");
        try (Reprise reprise = Reprise.builder()
                .store(Example.store())
                .handle(SHIP, (parcel, job) -> {
                    if (!known.contains(parcel.city())) {
                        throw new IllegalArgumentException("no such city: " + parcel.city());
                    }
                })
                .start()) {
            Operations ada = reprise.as("ada", "corrected the address");
            JobId bergen = dead(reprise, "Bergen");
            known.add("Bergen");
            Example.check(ada.replay(bergen, Replay.FRESH).equals(bergen), "under its own id");
            Example.check(reprise.await(bergen, Example.SOON).succeeded(), "and now it succeeds");
            JobId osol = dead(reprise, "Osol");
            // snippet:replay
            Replay corrected = Replay.FRESH.asNewJob().toQueue("corrected").withPayload("{\"city\":\"Oslo\"}");
            JobId oslo = ada.replay(osol, corrected);
            // end
            Job job = reprise.await(oslo, Example.SOON).job();
            Example.say(
                    "Job %s: %s on queue %s with %s",
                    oslo, job.state(), job.queue(), job.spec().payload());
            Example.check(!oslo.equals(osol) && reprise.find(osol).isEmpty(), "a new id, and the dead letter is gone");
            Example.check(job.queue().equals("corrected") && job.attempts() == 1, "other queue, fresh counters");
            reprise.audit(osol)
                    .forEach(entry -> Example.say("Audit of %s: %s, %s", osol, entry.action(), entry.detail()));
        }
    }

    private static JobId dead(Reprise reprise, String city) {
        JobId id = reprise.enqueue(SHIP.job(new Parcel(city)));
        Example.check(reprise.await(id, Example.SOON).failReason() == FailReason.PERMANENT, city + " is a dead letter");
        return id;
    }
}
