// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.api;

import io.reprise.Reprise;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobQuery;
import io.reprise.job.Page;
import io.reprise.server.auth.Tenancy;
import io.reprise.server.http.Problem;
import io.reprise.server.http.Request;
import io.reprise.server.http.Response;
import io.reprise.server.search.JobSearch;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/** Builds pages of jobs. */
public final class Pages {

    /** A page with payloads ends at this number of characters. */
    private static final int MAX_CHARS = 4 << 20;

    /** Jobs read at once while the length of their payloads is unknown. */
    private static final int FEW = 10;

    /** Enough for a few jobs in each place that a store reads. */
    private static final int MIN_LOOKS = 100;

    /** A search that finds little ends its page after this time. The next page goes on from there. */
    private static final long LOOKING_NANOS = 150_000_000;

    private Pages() {}

    /** Returns a page, with payloads and results only if the request asks for them. */
    static Response shown(Reprise reprise, JobQuery query, Request request) {
        Tenancy tenancy = Tenancy.of(request.caller());
        return request.flag("payloads")
                ? Response.ok(Views.page(whole(reprise, query), job -> Views.job(job, tenancy)))
                : Response.ok(Views.page(find(reprise, query.brief()), job -> Views.brief(job, tenancy)));
    }

    /** Returns a page of the jobs that a search finds, looking at no more jobs than a page may. */
    static Response searched(Reprise reprise, JobSearch search, Request request) {
        Tenancy tenancy = Tenancy.of(request.caller());
        if (search.isQuery()) {
            return shown(reprise, search.query(), request);
        }
        Page<Job> page = search.id() == null ? filtered(reprise, search) : one(reprise, search, tenancy);
        boolean payloads = request.flag("payloads");
        return Response.ok(Views.page(page, job -> payloads ? Views.job(job, tenancy) : Views.brief(job, tenancy)));
    }

    private static Page<Job> one(Reprise reprise, JobSearch search, Tenancy tenancy) {
        JobId id = Objects.requireNonNull(search.id());
        List<Job> found = reprise.find(id).stream()
                .filter(job -> tenancy.owns(job.queue()))
                .filter(search.query()::matches)
                .filter(search::matches)
                .toList();
        return new Page<>(found, null);
    }

    /**
     * Reads many at a time while few match. If more match than there is room for, it reads them again, fewer. Each read
     * gets its share of the rows that a page may scan: the store itself may have to pass over most of them.
     */
    private static Page<Job> filtered(Reprise reprise, JobSearch search) {
        List<Job> jobs = new ArrayList<>();
        JobQuery query = search.query().brief().looks(JobQuery.MAX_LIMIT);
        String next = query.cursor();
        int looked = 0;
        long end = System.nanoTime() + LOOKING_NANOS;
        do {
            int room = query.limit() - jobs.size();
            Page<Job> some = find(reprise, query.limit(JobQuery.MAX_LIMIT).after(next));
            List<Job> found = some.items().stream().filter(search::matches).toList();
            if (found.size() > room) {
                some = find(reprise, query.limit(room).after(next));
                found = some.items().stream().filter(search::matches).toList();
            }
            jobs.addAll(found);
            looked += query.looks();
            next = some.next();
        } while (next != null && jobs.size() < query.limit() && looked < JobQuery.MAX_LOOKS && System.nanoTime() < end);
        return new Page<>(jobs, next);
    }

    /**
     * Reads a few jobs at a time, so that neither the page nor one read exceeds the limit by much. Each read gets its
     * share of the rows that a page may scan. A read that finds less than it wanted is the last.
     */
    private static Page<Job> whole(Reprise reprise, JobQuery query) {
        List<Job> jobs = new ArrayList<>();
        long chars = 0;
        String next = query.cursor();
        int looks = Math.max(MIN_LOOKS, (int) ((long) query.looks() * FEW / Math.max(FEW, query.limit())));
        boolean full;
        do {
            int most = Math.min(FEW, query.limit() - jobs.size());
            Page<Job> some = find(reprise, query.limit(most).looks(looks).after(next));
            jobs.addAll(some.items());
            chars += some.items().stream().mapToLong(Pages::length).sum();
            next = some.next();
            full = some.items().size() == most;
        } while (next != null && full && chars < MAX_CHARS && jobs.size() < query.limit());
        return new Page<>(jobs, next);
    }

    public static long length(Job job) {
        String result = job.status().result();
        return job.spec().payload().length() + (result == null ? 0L : result.length());
    }

    /**
     * Finds jobs.
     *
     * @throws Problem if the cursor cannot be read
     */
    private static Page<Job> find(Reprise reprise, JobQuery query) {
        try {
            return reprise.find(query);
        } catch (IllegalArgumentException e) {
            throw Problem.invalid("cursor", "is not one that a page called next");
        }
    }
}
