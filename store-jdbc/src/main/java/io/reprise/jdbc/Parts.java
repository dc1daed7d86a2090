// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import java.util.function.Function;

/** The parts of a store on one database, created once and connected here. */
final class Parts {

    private final Policies policies = new Policies();
    private final Specs specs = new Specs(policies);
    private final Jobs jobs = new Jobs(specs);
    private final Leases leases = new Leases(jobs);
    private final Upkeep upkeep = new Upkeep(jobs);
    private final Queries queries = new Queries(jobs);
    private final Standings standings = new Standings(jobs);
    private final Cancellations cancellations = new Cancellations(jobs);
    private final Revivals revivals;
    private final Attempts attempts;
    private final Inserts inserts;
    private final Schedules schedules;
    private final Claims claims;
    private final Outbox outbox;

    private Parts(
            int history,
            Inserts.Bulk bulk,
            Function<Parts, Claims> claims,
            Function<Attempts, Settlements> settlements) {
        this.attempts = new Attempts(history);
        this.revivals = new Revivals(jobs, specs, attempts);
        this.inserts = new Inserts(policies, specs, bulk);
        this.schedules = new Schedules(policies, specs, inserts);
        this.claims = claims.apply(this);
        this.outbox = new Outbox(inserts, settlements.apply(attempts), upkeep, cancellations);
    }

    static Parts sqlite(Database database, int history) {
        return new Parts(
                history,
                new SqliteBulk(),
                parts -> new SqliteClaims(database, parts.specs, parts.leases),
                SqliteSettlements::new);
    }

    static Parts postgres(Database database, int history) {
        return new Parts(
                history,
                new PostgresBulk(),
                parts -> new PostgresClaims(database, parts.jobs),
                PostgresSettlements::new);
    }

    static Parts mysql(MySqlDatabase database, int history) {
        return new Parts(
                history, new MySqlBulk(), parts -> new MySqlClaims(database, parts.leases), MySqlSettlements::new);
    }

    Policies policies() {
        return policies;
    }

    Jobs jobs() {
        return jobs;
    }

    Leases leases() {
        return leases;
    }

    Queries queries() {
        return queries;
    }

    Standings standings() {
        return standings;
    }

    Revivals revivals() {
        return revivals;
    }

    Attempts attempts() {
        return attempts;
    }

    Inserts inserts() {
        return inserts;
    }

    Schedules schedules() {
        return schedules;
    }

    Claims claims() {
        return claims;
    }

    Outbox outbox() {
        return outbox;
    }
}
