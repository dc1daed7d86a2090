// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb;

import io.reprise.job.JobId;
import io.reprise.job.Progress;
import io.reprise.mongodb.docs.Change;
import io.reprise.mongodb.docs.FieldNames;
import io.reprise.mongodb.docs.JobDocs;
import io.reprise.mongodb.docs.Mongo;
import io.reprise.mongodb.docs.MongoScope;
import io.reprise.mongodb.docs.MongoTime;
import io.reprise.store.LostClaim;
import io.reprise.store.Renewal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.bson.Document;
import org.jspecify.annotations.Nullable;

/** Renews leases, and takes over expired ones. */
final class MongoLeases {

    private final Mongo mongo;
    private final JobDocs jobDocs;

    MongoLeases(Mongo mongo, JobDocs jobDocs) {
        this.mongo = mongo;
        this.jobDocs = jobDocs;
    }

    /** Renews leases. A lease that holds no job any more counts as lost. */
    Renewal renew(String worker, Collection<Long> tokens, Duration lease) {
        if (tokens.isEmpty()) {
            return new Renewal(Set.of(), Set.of());
        }
        return mongo.run("renew leases", scope -> {
            long until = MongoTime.plus(scope.now(), lease);
            Document mine = new Document(FieldNames.TOKEN, FieldNames.in(tokens))
                    .append(FieldNames.STATUS, FieldNames.PROCESSING)
                    .append(FieldNames.WORKER, worker);
            // An earlier renewal whose answer was lost may reach the server after a later one. It must not shorten the
            // lease.
            scope.jobs()
                    .updateAll(
                            mine, Change.none().raise(FieldNames.UNTIL, until).remove(FieldNames.UNHEARD));
            Set<Long> lost = new HashSet<>(tokens);
            Set<JobId> cancelled = new HashSet<>();
            for (Document job : scope.jobs()
                    .find(mine)
                    .projection(new Document(FieldNames.TOKEN, 1).append(FieldNames.CANCEL_REQUESTED, 1))) {
                lost.remove(FieldNames.numberOr(job, FieldNames.TOKEN, 0));
                if (FieldNames.flag(job, FieldNames.CANCEL_REQUESTED)) {
                    cancelled.add(new JobId(JobDocs.idOf(job)));
                }
            }
            return new Renewal(lost, cancelled);
        });
    }

    void excuse(String worker, Collection<Long> tokens, boolean excused) {
        Document mine = new Document(FieldNames.TOKEN, FieldNames.in(tokens))
                .append(FieldNames.STATUS, FieldNames.PROCESSING)
                .append(FieldNames.WORKER, worker);
        mongo.run(
                "excuse leases",
                scope -> scope.jobs().updateAll(mine, Change.none().set(FieldNames.EXCUSED, excused)));
    }

    List<LostClaim> takeOver(String taker, Duration lease, int maxLeases) {
        long now = mongo.run("tell the time", MongoScope::now);
        List<LostClaim> taken = new ArrayList<>();
        for (long token : expired(now, maxLeases)) {
            LostClaim lost = mongo.unlessBusy("take a lease over", scope -> takeOver(scope, token, taker, lease, now));
            if (lost != null) {
                taken.add(lost);
            }
        }
        return taken;
    }

    private List<Long> expired(long now, int most) {
        return mongo.run("find expired leases", scope -> {
            List<Long> tokens = new ArrayList<>();
            scope.jobs()
                    .aggregate(
                            new Document("$match", expired(now)),
                            new Document(
                                    "$group",
                                    new Document(FieldNames.ID, "$" + FieldNames.TOKEN)
                                            .append("until", new Document("$min", "$" + FieldNames.UNTIL))),
                            new Document("$sort", new Document("until", 1)),
                            new Document("$limit", most))
                    .forEach(lease -> tokens.add(FieldNames.numberOr(lease, FieldNames.ID, 0)));
            return tokens;
        });
    }

    private static Document expired(long now) {
        return new Document(FieldNames.STATUS, FieldNames.PROCESSING).append(FieldNames.UNTIL, FieldNames.upTo(now));
    }

    private @Nullable LostClaim takeOver(MongoScope scope, long lost, String taker, Duration lease, long now) {
        long token = scope.next("token", 1);
        Change change = Change.at(now)
                .set(FieldNames.TOKEN, token)
                .set(FieldNames.WORKER, taker)
                .set(FieldNames.UNTIL, MongoTime.plus(now, lease));
        if (scope.jobs().updateAll(expired(now).append(FieldNames.TOKEN, lost), change) == 0) {
            return null;
        }
        List<Document> jobs = scope.jobs()
                .find(new Document(FieldNames.TOKEN, token).append(FieldNames.STATUS, FieldNames.PROCESSING))
                .projection(JobDocs.WITHOUT_HISTORY)
                .into(new ArrayList<>());
        if (jobs.isEmpty()) {
            return null;
        }
        String runner = Objects.requireNonNullElse(FieldNames.text(jobs.get(0), FieldNames.RUNNER), "unknown");
        boolean excused = FieldNames.flag(jobs.get(0), FieldNames.EXCUSED);
        // If a worker was heard under this lease, at least one job is no longer held.
        boolean unheard = FieldNames.numberOr(jobs.get(0), FieldNames.UNHEARD, 0) == jobs.size();
        return new LostClaim(jobDocs.claim(token, jobs), lost, runner, excused, unheard);
    }

    boolean progress(JobId id, long token, Progress progress) {
        Document held = JobDocs.byId(id)
                .append(FieldNames.STATUS, FieldNames.PROCESSING)
                .append(FieldNames.TOKEN, token);
        Document kept = new Document("percent", progress.percent()).append("message", progress.message());
        return mongo.run(
                "keep progress",
                scope -> scope.jobs().update(held, Change.none().set(FieldNames.PROGRESS, kept)));
    }
}
