// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb.docs;

import io.reprise.insight.LogLine;
import io.reprise.job.JobId;
import io.reprise.store.LogPart;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.bson.Document;

/** The log lines of runs, several in one document. The lines of the latest runs of a job are kept, as its history is. */
public final class MongoLogs {

    /** The field that names the job. */
    public static final String JOB = "job";

    /** The field with the lines. */
    static final String BODY = "body";

    private static final String TOKEN = "token";
    private static final String PART = "part";

    private MongoLogs() {}

    /**
     * Writes parts of jobs that exist.
     *
     * @param kept how many runs of a job keep their lines
     */
    public static void write(MongoScope scope, List<LogPart> parts, int kept) {
        List<Long> ids =
                parts.stream().map(part -> part.job().value()).distinct().toList();
        Set<Long> jobs = new HashSet<>();
        scope.jobs().find(JobDocs.byIds(ids)).projection(JobDocs.ID_ONLY).forEach(job -> jobs.add(JobDocs.idOf(job)));
        if (scope.hasDead()) {
            scope.dead()
                    .find(JobDocs.byIds(ids))
                    .projection(JobDocs.ID_ONLY)
                    .forEach(job -> jobs.add(JobDocs.idOf(job)));
        }
        for (LogPart part : parts) {
            if (jobs.contains(part.job().value())) {
                write(scope, part);
                if (part.part() == 0) {
                    trim(scope, part.job(), kept);
                }
            }
        }
    }

    private static void write(MongoScope scope, LogPart part) {
        Document row = new Document(FieldNames.ID, part.job() + "/" + part.token() + "/" + part.part());
        scope.docs(MongoScope.LOGS)
                .upsert(
                        row,
                        Change.none()
                                .set(JOB, part.job().value())
                                .set(TOKEN, part.token())
                                .set(PART, part.part())
                                .set(BODY, part.toText()));
    }

    private static void trim(MongoScope scope, JobId job, int kept) {
        Document old = scope.docs(MongoScope.LOGS)
                .find(new Document(JOB, job.value()).append(PART, 0))
                .sort(new Document(TOKEN, -1))
                .skip(kept)
                .limit(1)
                .first();
        if (old != null) {
            long token = FieldNames.numberOr(old, TOKEN, 0);
            scope.docs(MongoScope.LOGS).deleteAll(new Document(JOB, job.value()).append(TOKEN, FieldNames.upTo(token)));
        }
    }

    /** Returns the lines of a job's runs under this token and under later ones. */
    public static List<LogLine> find(MongoScope scope, JobId job, long from) {
        List<LogLine> lines = new ArrayList<>();
        scope.docs(MongoScope.LOGS)
                .find(new Document(JOB, job.value()).append(TOKEN, FieldNames.after(from - 1)))
                .sort(new Document(TOKEN, 1).append(PART, 1))
                .forEach(row -> lines.addAll(LogPart.parse(FieldNames.numberOr(row, TOKEN, 0), row.getString(BODY))));
        return lines;
    }

    /** Deletes the lines of jobs that are deleted. */
    public static void forget(MongoScope scope, List<Long> jobs) {
        scope.docs(MongoScope.LOGS).deleteAll(new Document(JOB, FieldNames.in(jobs)));
    }
}
