// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import io.reprise.jdbc.jobs.Attempts;
import io.reprise.jdbc.jobs.Cancellations;
import io.reprise.jdbc.jobs.JobChanges;
import io.reprise.jdbc.jobs.JobClaims;
import io.reprise.jdbc.jobs.JobInserts;
import io.reprise.jdbc.jobs.JobQueries;
import io.reprise.jdbc.jobs.JobRows;
import io.reprise.jdbc.jobs.JobSettlements;
import io.reprise.jdbc.jobs.JobUpkeep;
import io.reprise.jdbc.jobs.LeaseTable;
import io.reprise.jdbc.jobs.PolicyTable;
import io.reprise.jdbc.jobs.QueuePositions;
import io.reprise.jdbc.jobs.Requeues;
import io.reprise.jdbc.jobs.ScheduleTable;
import io.reprise.jdbc.jobs.SpecColumns;
import io.reprise.jdbc.jobs.Transitions;
import io.reprise.jdbc.mysql.MySqlBulk;
import io.reprise.jdbc.mysql.MySqlClaims;
import io.reprise.jdbc.mysql.MySqlDatabase;
import io.reprise.jdbc.mysql.MySqlSettlements;
import io.reprise.jdbc.postgres.PostgresBulk;
import io.reprise.jdbc.postgres.PostgresClaims;
import io.reprise.jdbc.postgres.PostgresSettlements;
import io.reprise.jdbc.postgres.PostgresSteps;
import io.reprise.jdbc.rows.StepTable;
import io.reprise.jdbc.sql.Database;
import io.reprise.jdbc.sqlite.SqliteBulk;
import io.reprise.jdbc.sqlite.SqliteClaims;
import io.reprise.jdbc.sqlite.SqliteSettlements;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The parts of a store on one database, created once and connected here. */
final class Parts {

    private final PolicyTable policies = new PolicyTable();
    private final SpecColumns specs = new SpecColumns(policies);
    private final JobRows jobs = new JobRows(specs);
    private final LeaseTable leases = new LeaseTable(jobs);
    private final JobUpkeep upkeep = new JobUpkeep(jobs);
    private final JobQueries queries = new JobQueries(jobs);
    private final QueuePositions queuePositions = new QueuePositions(jobs);
    private final Cancellations cancellations = new Cancellations(jobs);
    private final JobChanges changes = new JobChanges(jobs, policies);
    private final Requeues requeues;
    private final Attempts attempts;
    private final JobInserts inserts;
    private final ScheduleTable schedules;
    private final JobClaims claims;
    private final Transitions transitions;

    private final StepTable.@Nullable Together stepsTogether;

    private Parts(
            int history,
            JobInserts.Bulk bulk,
            Function<Parts, JobClaims> claims,
            Function<Attempts, JobSettlements> settlements,
            StepTable.@Nullable Together stepsTogether) {
        this.attempts = new Attempts(history);
        this.requeues = new Requeues(jobs, specs, attempts);
        this.inserts = new JobInserts(policies, specs, bulk);
        this.schedules = new ScheduleTable(policies, specs, inserts);
        this.claims = claims.apply(this);
        this.transitions = new Transitions(inserts, settlements.apply(attempts), upkeep, cancellations);
        this.stepsTogether = stepsTogether;
    }

    static Parts sqlite(Database database, int history) {
        return new Parts(
                history,
                new SqliteBulk(),
                parts -> new SqliteClaims(database, parts.specs, parts.leases),
                SqliteSettlements::new,
                null);
    }

    static Parts postgres(Database database, int history) {
        return new Parts(
                history,
                new PostgresBulk(),
                parts -> new PostgresClaims(database, parts.jobs),
                PostgresSettlements::new,
                new PostgresSteps());
    }

    static Parts mysql(MySqlDatabase database, int history) {
        return new Parts(
                history,
                new MySqlBulk(),
                parts -> new MySqlClaims(database, parts.leases),
                MySqlSettlements::new,
                null);
    }

    PolicyTable policies() {
        return policies;
    }

    JobRows jobs() {
        return jobs;
    }

    LeaseTable leases() {
        return leases;
    }

    JobQueries queries() {
        return queries;
    }

    QueuePositions queuePositions() {
        return queuePositions;
    }

    JobChanges changes() {
        return changes;
    }

    Requeues requeues() {
        return requeues;
    }

    Attempts attempts() {
        return attempts;
    }

    JobInserts inserts() {
        return inserts;
    }

    ScheduleTable schedules() {
        return schedules;
    }

    JobClaims claims() {
        return claims;
    }

    /** How the database writes many new steps; null if one by one in a transaction. */
    StepTable.@Nullable Together stepsTogether() {
        return stepsTogether;
    }

    Transitions transitions() {
        return transitions;
    }
}
