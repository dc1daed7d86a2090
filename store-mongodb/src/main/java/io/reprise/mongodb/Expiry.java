// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb;

import io.reprise.Job;
import io.reprise.JobSpec;
import io.reprise.retry.FailReason;
import java.util.List;
import java.util.function.Function;
import org.bson.Document;
import org.bson.types.ObjectId;

/** Fails waiting jobs whose deadline has passed. */
final class Expiry {

    private final Mongo mongo;
    private final JobDocs jobDocs;
    private final Sequels sequels;
    private final DeadLetters deadLetters;

    Expiry(Mongo mongo, JobDocs jobDocs, Sequels sequels, DeadLetters deadLetters) {
        this.mongo = mongo;
        this.jobDocs = jobDocs;
        this.sequels = sequels;
        this.deadLetters = deadLetters;
    }

    private static Document overdue(long now) {
        return new Document(Fields.STATUS, Fields.PENDING).append(Fields.DEADLINE, Fields.upTo(now));
    }

    List<Job> expire(int limit, Function<Job, List<JobSpec>> rule) {
        mongo.run("store jobs that follow others", scope -> {
            sequels.tidy(scope, rule);
            return true;
        });
        if (!mongo.run("look for overdue jobs", scope -> scope.jobs().exists(overdue(scope.now())))) {
            return List.of();
        }
        List<Job> expired =
                Inserts.untilNotOvertaken(() -> mongo.atomically("expire jobs", scope -> expire(scope, limit, rule)));
        deadLetters.move(expired.stream().map(job -> job.id().value()).toList());
        return expired;
    }

    private List<Job> expire(Scope scope, int limit, Function<Job, List<JobSpec>> rule) {
        long now = scope.now();
        List<Long> ids = Queries.ids(scope.jobs()
                .find(overdue(now))
                .sort(new Document(Fields.DEADLINE, 1))
                .limit(limit));
        if (ids.isEmpty()) {
            return List.of();
        }
        ObjectId mark = new ObjectId();
        Change change = Endings.fail(Change.at(now).set(Fields.MARK, mark), FailReason.DEADLINE, now);
        Sequels.owe(scope, change);
        scope.jobs().updateAll(overdue(now).append(Fields.ID, Fields.in(ids)), change);
        List<Job> expired = jobDocs.read(
                scope.jobs().find(JobDocs.byIds(ids).append(Fields.MARK, mark)).projection(JobDocs.WITHOUT_HISTORY));
        sequels.followExpired(scope, expired, rule);
        return expired;
    }
}
