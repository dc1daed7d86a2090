// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.sqlite;

import io.reprise.jdbc.jobs.Columns;
import io.reprise.jdbc.jobs.ReturningDialect;
import io.reprise.jdbc.sql.Session;
import io.reprise.jdbc.sql.ShownColumns;
import io.reprise.jdbc.sql.SqlRow;
import io.reprise.jdbc.sql.SqlWords;
import io.reprise.job.JobState;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * SQLite. A writing transaction has the whole file, so it needs no further locks. Live and
 * finished jobs share one table.
 */
public final class SqliteDialect extends ReturningDialect {

    private static final String ALL = "reprise_job where true";
    private static final String LIVE = "reprise_job indexed by reprise_job_ready where due_at is not null";
    // Not the view: it would look through the leases for each job, and no lease has any of these.
    private static final String PENDING = "(select j.*, null as holder, j.state as stored from reprise_job j"
            + " where j.due_at is not null) waiting where id not in (select h.id from reprise_held h)";

    private static final String COUNT_LIVE = """
            select count(*)
              from (select 1
                      from reprise_job
                     where due_at is not null
                     limit ?)
            """;

    // Only live jobs match, so a second run changes nothing.
    private static final String END = """
            update reprise_job
               set state = ?, fail_reason = ?, due_at = null, wait_reason = null, cancel_requested = 0, started_at = null,
                   worker = null, finished_at = {now}
             where id {in ?} and due_at is not null
            returning id, queue, case when chain like '@%' then chain end
            """;

    private static final String LEAVE = """
            update reprise_lease
               set ids = (select json_group_array(e.value) from json_each(ids) e where e.value <> ?)
             where id = ?
            """;

    private static final String DROP_DAMAGED = """
            delete from reprise_lease
             where case when json_valid(ids) then exists (select 1 from json_each(ids) e where e.type <> 'integer')
                        else true end
            """;

    private static final Logger log = LoggerFactory.getLogger(SqliteDialect.class);

    private final SqlWords words = new SqlWords(SqlWords.Product.SQLITE, Columns.WORDS);

    @Override
    public String product() {
        return "SQLite";
    }

    @Override
    public String name() {
        return "sqlite";
    }

    @Override
    public SqlWords words() {
        return words;
    }

    @Override
    protected String nextToken() {
        return "null";
    }

    /** A list is JSON. */
    @Override
    protected String idsType() {
        return "text";
    }

    @Override
    public String endSql() {
        return sql(END);
    }

    @Override
    public String leaveSql() {
        return LEAVE;
    }

    @Override
    public String hasTable() {
        return "select count(*) from sqlite_master where type = 'table' and name = ?";
    }

    @Override
    public List<ShownColumns> shown(Set<JobState> states, boolean fewLive) {
        return states.isEmpty()
                ? List.of(ShownColumns.of("reprise_show where true", ALL))
                : states.stream().sorted().map(state -> shown(state, fewLive)).toList();
    }

    /** Uses the stored state, so that the partial indexes fit. If few jobs are live, it uses their index. */
    private static ShownColumns shown(JobState state, boolean fewLive) {
        return switch (state) {
            case PENDING ->
                fewLive
                        ? ShownColumns.of(
                                PENDING + " and id in (select id from reprise_job where due_at is not null)", LIVE)
                        : ShownColumns.of(PENDING, ALL);
            case RUNNING ->
                ShownColumns.of(
                        "reprise_show where state = 'RUNNING' and id in (select h.id from reprise_held h)",
                        "reprise_held where true");
            case SUCCEEDED -> ShownColumns.of("reprise_show where stored = 'SUCCEEDED'", ALL);
            case FAILED ->
                ShownColumns.dead("reprise_show where stored = 'FAILED'", "reprise_job where state = 'FAILED'");
            case CANCELLED ->
                ShownColumns.of("reprise_show where stored = 'CANCELLED'", "reprise_job where state = 'CANCELLED'");
        };
    }

    /** No index has the live jobs by id: it would cost every job that ends. */
    @Override
    public boolean hasFewLive(Session session, int most) throws SQLException {
        return session.one(COUNT_LIVE, SqlRow::number, most + 1) <= most;
    }

    /** Arrays are sent as JSON. They hold only names and numbers, and names need no escaping. */
    @Override
    public void bindArray(PreparedStatement statement, int index, Object array) throws SQLException {
        statement.setString(
                index,
                array instanceof long[] numbers
                        ? Arrays.toString(numbers)
                        : Arrays.stream((Object[]) array)
                                .map(name -> "\"" + name + "\"")
                                .collect(Collectors.joining(",", "[", "]")));
    }

    /** Leases are few, and so are the ids of each. */
    @Override
    public void dropDamagedLeases(Session session) throws SQLException {
        int dropped = session.update(DROP_DAMAGED);
        if (dropped > 0) {
            log.warn("{} damaged leases were removed; their jobs will be claimed again", dropped);
        }
    }

    /** The busy timeout limits every wait, and a statement works on one bounded batch. */
    @Override
    public void limit(PreparedStatement statement, int seconds) {}

    /** sqlite_sequence also counts the ids of deleted jobs. There is one writer. */
    @Override
    public long nextId(Session session) throws SQLException {
        return session.first("select seq + 1 from sqlite_sequence where name = 'reprise_job'", SqlRow::number)
                .orElse(1L);
    }

    @Override
    public boolean movesFinished() {
        return false;
    }

    @Override
    public long nextControlVersion(Session session) throws SQLException {
        return session.one(
                "update reprise_control_version set version = version + 1 returning version", SqlRow::number);
    }

    @Override
    public void lockQueue(Session session, String queue) {}

    @Override
    public void requireFreshReads(Connection connection) {}

    @Override
    public boolean writesBesideOthers() {
        return false;
    }

    @Override
    public void lockSchema(Session session) {}
}
