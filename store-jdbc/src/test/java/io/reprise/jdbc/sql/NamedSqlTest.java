// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;

class NamedSqlTest {

    @Test
    void a_name_becomes_a_question_mark_each_time_it_stands_there() {
        NamedSql named = NamedSql.of("select :queue from t where q = :queue and n < :max_jobs", false);
        assertThat(named.sql()).isEqualTo("select ? from t where q = ? and n < ?");
        assertThat(named.names()).containsExactly("queue", "queue", "max_jobs");
    }

    @Test
    void a_database_with_numbers_binds_a_name_once() {
        NamedSql named = NamedSql.of("set a = :now, b = :now - :ran, c = :now", true);
        assertThat(named.sql()).isEqualTo("set a = ?1, b = ?1 - ?2, c = ?1");
        assertThat(named.names()).containsExactly("now", "ran");
    }

    @Test
    void casts_and_text_in_quotes_are_left_alone() {
        String sql = "select '12:30 :no', x::bigint, array(select y[1:2])";
        assertThat(NamedSql.of(sql, false).sql()).isEqualTo(sql);
        assertThat(NamedSql.of("select :ids::bigint[]", false).sql()).isEqualTo("select ?::bigint[]");
    }

    @Test
    void a_statement_with_both_names_and_question_marks_is_refused() {
        assertThatThrownBy(() -> NamedSql.of("select :a, ?", false)).hasMessageContaining("either names or question");
    }

    @Test
    void a_name_without_a_value_is_refused_and_null_is_a_value() {
        Params params = Params.of("a", null).and("b", 2);
        assertThat(params.inOrder(List.of("b", "a", "b"))).containsExactly(2, null, 2);
        assertThatThrownBy(() -> params.inOrder(List.of("c"))).hasMessageContaining("No value for :c");
        assertThatThrownBy(() -> params.and("b", 3)).hasMessageContaining("Two values for :b");
    }
}
