// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb;

import io.reprise.batch.BatchTally;
import io.reprise.batch.Membership;
import io.reprise.job.Job;
import io.reprise.job.JobSpec;
import io.reprise.job.JobState;
import io.reprise.mongodb.docs.Change;
import io.reprise.mongodb.docs.FieldNames;
import io.reprise.mongodb.docs.JobDocs;
import io.reprise.mongodb.docs.Mongo;
import io.reprise.mongodb.docs.MongoEndings;
import io.reprise.mongodb.docs.MongoScope;
import io.reprise.retry.FailReason;
import java.util.List;
import java.util.function.Function;
import org.bson.Document;
import org.bson.types.ObjectId;

/** Fails waiting jobs whose deadline has passed. */
final class MongoExpiry {

    private final Mongo mongo;
    private final JobDocs jobDocs;
    private final MongoFollowUps followUps;
    private final DeadLetters deadLetters;

    MongoExpiry(Mongo mongo, JobDocs jobDocs, MongoFollowUps followUps, DeadLetters deadLetters) {
        this.mongo = mongo;
        this.jobDocs = jobDocs;
        this.followUps = followUps;
        this.deadLetters = deadLetters;
    }

    private static Document overdue(long now) {
        return new Document(FieldNames.STATUS, FieldNames.PENDING).append(FieldNames.DEADLINE, FieldNames.upTo(now));
    }

    List<Job> expire(int limit, Function<Job, List<JobSpec>> rule) {
        mongo.run("store jobs that follow others", scope -> {
            followUps.tidy(scope, rule);
            return true;
        });
        if (!mongo.run("look for overdue jobs", scope -> scope.jobs().exists(overdue(scope.now())))) {
            return List.of();
        }
        List<Job> expired = MongoInserts.untilNotOvertaken(
                () -> mongo.atomically("expire jobs", scope -> expire(scope, limit, rule)));
        deadLetters.move(expired.stream().map(job -> job.id().value()).toList());
        return expired;
    }

    private List<Job> expire(MongoScope scope, int limit, Function<Job, List<JobSpec>> rule) {
        long now = scope.now();
        List<Long> ids = MongoQueries.ids(scope.jobs()
                .find(overdue(now))
                .sort(new Document(FieldNames.DEADLINE, 1))
                .limit(limit));
        if (ids.isEmpty()) {
            return List.of();
        }
        ObjectId mark = new ObjectId();
        Change change = MongoEndings.fail(Change.at(now).set(FieldNames.MARK, mark), FailReason.DEADLINE, now);
        MongoFollowUps.owe(scope, change);
        scope.jobs().updateAll(overdue(now).append(FieldNames.ID, FieldNames.in(ids)), change);
        List<Job> expired = jobDocs.read(scope.jobs()
                .find(JobDocs.byIds(ids).append(FieldNames.MARK, mark))
                .projection(JobDocs.WITHOUT_HISTORY));
        followUps.followExpired(scope, expired, rule);
        BatchTally tally = new BatchTally();
        expired.forEach(job -> tally.ended(Membership.in(job.spec()), job.id(), JobState.FAILED, null));
        MongoBatches.count(scope, tally);
        return expired;
    }
}
