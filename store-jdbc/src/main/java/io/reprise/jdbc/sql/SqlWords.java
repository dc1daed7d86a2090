// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.sql;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The words in braces of statements that several databases share. {@link #TABLE} has the words that differ between the
 * databases. {@code Columns} has the lists of columns, which are the same everywhere. A word that only one class uses is
 * not here: that class replaces it. Thread-safe.
 */
public final class SqlWords {

    /** A column of {@link #TABLE}. */
    public enum Product {
        POSTGRESQL(1),
        MYSQL(2),
        SQLITE(3);

        private final int column;

        Product(int column) {
            this.column = column;
        }
    }

    /**
     * One line for each word: what it means, and its text on each database. {@code $1} stands for the text that follows in
     * the braces: {@code {in :ids}} or {@code {in ?}}.
     *
     * <ul>
     *   <li>{@code now}: microseconds since 1970; on PostgreSQL at the start of the transaction.
     *   <li>{@code clock}: the same at this moment, also after a wait for a lock.
     *   <li>{@code in}: the column equals a value of an array. MySQL has no arrays: {@link Spread} writes the values.
     *   <li>{@code base}: the queue that a job names, of the queue in which it waits: without the labels that it needs.
     *   <li>{@code by}: forces an index where the planner would otherwise read, and lock, whole tables.
     *   <li>{@code delete}: deletes from a table by an index. A condition follows.
     *   <li>{@code on_conflict}, {@code new}: an insert that changes the row of the same key, and the value it would insert.
     *   <li>{@code for_update}, {@code skip_locked}: locks the rows; waits for rows that others have locked, or skips them.
     *   <li>{@code for_no_key_update}: locks a lease against renewal, but not against a settle of its jobs.
     *   <li>{@code finished}: the table of ended jobs. {@code ended}: its indexed column with the state of jobs that failed.
     *   <li>{@code expiry}: the table that says when leases expire.
     *   <li>{@code bigint}, {@code text}: types of a cast. {@code key}: the column of that name.
     *   <li>{@code true}, {@code false}: as the conditions of partial indexes write them.
     *   <li>{@code next_id}: a new job id; SQLite fills in null itself.
     * </ul>
     */
    private static final String TABLE = """
            word               | PostgreSQL                    | MySQL and MariaDB                     | SQLite
            clock              | reprise_clock()               | {now}                                 | {now}
            now                | reprise_now()                 | timestampdiff(microsecond, timestamp'1970-01-01 00:00:00', utc_timestamp(6)) | cast(round(unixepoch('subsec') * 1000) as integer) * 1000
            in $1              | = any ($1)                    | in ($1...)                            | in (select value from json_each($1))
            base $1            | split_part($1, '@needs:', 1)  | substring_index($1, '@needs:', 1)     | substr($1, 1, case instr($1, '@needs:') when 0 then length($1) else instr($1, '@needs:') - 1 end)
            by $1              |                               | force index ($1)                      |
            delete $1 by $2    | delete from $1                | delete $1 from $1 force index ($2)    | delete from $1
            on_conflict $1     | on conflict $1 do update set  | on duplicate key update               | on conflict $1 do update set
            new.$1             | excluded.$1                   | values($1)                            | excluded.$1
            late               | job_group is not null and turn = '' and lane < 2 and due_at | late_at | job_group is not null and turn = '' and lane < 2 and due_at
            late_order         | due_at                        | late_at                               | due_at
            for_update         | for update                    | for update                            |
            skip_locked        | for update skip locked        | for update skip locked                |
            for_no_key_update  | for no key update             | for update                            |
            finished           | reprise_finished              | reprise_finished                      | reprise_job
            ended              | state                         | ended                                 | state
            expiry             | reprise_lease                 | reprise_expiry force index (primary)  | reprise_lease
            bigint             | bigint                        | signed                                | bigint
            text               | text                          | char                                  | text
            key                | key                           | `key`                                 | key
            true               | true                          | true                                  | 1
            false              | false                         | false                                 | 0
            next_id            | nextval('reprise_job_id')     | null                                  | null
            """;

    /** Our statements are fewer. The rest are searches, of which users can make any number. */
    private static final int MAX_NAMED = 2_000;

    private static final Pattern BRACES = Pattern.compile("\\{([a-z][^{}]*)}");
    private static final String ARGUMENT = "([^{}]+?)";

    private final Map<String, String> plain;
    private final Map<Pattern, String> withArguments = new LinkedHashMap<>();
    private final Map<String, String> texts = new ConcurrentHashMap<>();
    private final Map<String, NamedSql> named = new ConcurrentHashMap<>();
    private final boolean numbered;

    /**
     * Creates the words of a database.
     *
     * @param columns words that are the same on all databases
     */
    public SqlWords(Product product, Map<String, String> columns) {
        plain = new HashMap<>(columns);
        numbered = product == Product.SQLITE;
        TABLE.lines().skip(1).forEach(line -> add(line.split("\\|", -1), product));
    }

    private void add(String[] cells, Product product) {
        String word = cells[0].strip();
        String text = cells[product.column].strip();
        if (word.contains("$")) {
            String pattern =
                    Pattern.quote(word).replaceAll("\\$\\d", "\\\\E" + Matcher.quoteReplacement(ARGUMENT) + "\\\\Q");
            withArguments.put(Pattern.compile(pattern), text);
        } else {
            plain.put(word, text);
        }
    }

    /** Returns the statement with the words in braces replaced. The result is cached. */
    String sql(String template) {
        String known = texts.get(template);
        return known != null ? known : texts.computeIfAbsent(template, this::once);
    }

    /** Returns the statement with the words in braces replaced, without caching. */
    String once(String template) {
        return BRACES.matcher(template).replaceAll(found -> Matcher.quoteReplacement(once(text(found.group(1)))));
    }

    private String text(String word) {
        String text = plain.get(word);
        if (text != null) {
            return text;
        }
        for (Map.Entry<Pattern, String> candidate : withArguments.entrySet()) {
            Matcher matcher = candidate.getKey().matcher(word);
            if (matcher.matches()) {
                return filled(candidate.getValue(), matcher);
            }
        }
        throw new IllegalArgumentException("No word {" + word + "}: SqlWords and Columns have the words of statements");
    }

    private static String filled(String text, Matcher arguments) {
        String filled = text;
        for (int i = 1; i <= arguments.groupCount(); i++) {
            filled = filled.replace("$" + i, arguments.group(i));
        }
        return filled;
    }

    /** Returns a statement with names in the form that JDBC wants. The first {@link #MAX_NAMED} are cached. */
    NamedSql named(String sql) {
        NamedSql known = named.get(sql);
        if (known == null) {
            known = NamedSql.of(sql, numbered);
            if (named.size() < MAX_NAMED) {
                named.put(sql, known);
            }
        }
        return known;
    }
}
