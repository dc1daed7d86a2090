// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

class BodyReaderTest {

    private static final int BODY = 10 << 20;

    private static final Schema JOB = Schema.object()
            .must("type", Schema.name())
            .may("payload", Schema.json())
            .may("policy", Schema.any())
            .may("tags", Schema.array(Schema.name(), 0, 3));

    private static JsonNode read(String json) {
        return Json.read(json.getBytes(StandardCharsets.UTF_8), JOB);
    }

    @Test
    void what_may_be_any_json_stays_text_with_numbers_as_they_were_written() {
        Fields job =
                new Fields(read("{\"type\":\"a\", \"payload\" : [ 1.50, 1e2, -0, {\"ä\" : \"\\u00e9\\n\"}, null ]}"));
        assertThat(job.text("type")).isEqualTo("a");
        assertThat(job.json("payload")).isEqualTo("[1.50,1e2,-0,{\"ä\":\"é\\n\"},null]");
        assertThat(new Fields(read("{\"type\":\"a\",\"payload\":\"x\"}")).json("payload"))
                .isEqualTo("\"x\"");
        assertThat(new Fields(read("{\"type\":\"a\",\"payload\":null}")).has("payload"))
                .isFalse();
    }

    @Test
    void it_is_checked_nevertheless() {
        for (String wrong : new String[] {
            "{\"payload\":[1,}",
            "{\"payload\":{\"a\":1,\"a\":2}}",
            "{\"payload\":" + "[".repeat(200) + "]".repeat(200) + "}",
            "{\"payload\":\"\\ud800\"}",
            "{\"payload\":NaN}",
            "{\"payload\":1} 2"
        }) {
            assertThatThrownBy(() -> read(wrong)).as(wrong).isInstanceOf(Problem.class);
        }
    }

    @Test
    void half_of_a_surrogate_pair_is_refused_also_where_any_json_may_be() {
        for (String wrong : new String[] {
            "{\"payload\":\"HALF\"}",
            "{\"payload\":{\"HALF\":1}}",
            "{\"policy\":\"HALF\"}",
            "{\"policy\":{\"HALF\":1}}",
            "{\"HALF\":1}"
        }) {
            for (String half : new String[] {"\\ud83d", "\\uDE80x"}) {
                assertThatThrownBy(() -> read(wrong.replace("HALF", half)))
                        .as(wrong + half)
                        .isInstanceOf(Problem.class);
            }
        }
    }

    @Test
    void half_of_a_surrogate_pair_in_a_text_is_refused_with_the_name_of_its_field() {
        Schema keyed = Schema.object().may("keys", Schema.array(Schema.text(1, 250), 0, 3));
        for (String half : new String[] {"\\ud83d", "\\uDE80x"}) {
            byte[] body = ("{\"keys\":[\"\\ud83d\\ude80\",\"" + half + "\"]}").getBytes(StandardCharsets.UTF_8);
            SchemaCheck check = new SchemaCheck();
            check.value("", keyed, Json.read(body, keyed));
            assertThat(check.errors())
                    .containsExactly(new Problem.FieldError("/keys/1", "must not contain half of a surrogate pair"));
        }
    }

    @Test
    void a_tree_has_a_limit() {
        String many = "{\"policy\":[" + "{},".repeat(300_000) + "{}]}";
        assertThatThrownBy(() -> read(many)).isInstanceOf(Problem.class).hasMessageContaining("values");
    }

    /** Ten megabytes of empty objects were a tree of 282. */
    @Test
    void small_objects_take_little_memory_wherever_they_are() {
        String objects = "[" + "{},".repeat(BODY / 3) + "{}]";
        for (String member : new String[] {"payload", "tags", "unknown"}) {
            byte[] body = ("{\"type\":\"a\",\"" + member + "\":" + objects + "}").getBytes(StandardCharsets.UTF_8);
            ThreadMXBean thread = (ThreadMXBean) ManagementFactory.getThreadMXBean();
            long before = thread.getCurrentThreadAllocatedBytes();
            assertThat(Json.read(body, JOB).size()).isEqualTo(2);
            assertThat(thread.getCurrentThreadAllocatedBytes() - before)
                    .as(member)
                    .isLessThan(8L * BODY);
        }
    }
}
