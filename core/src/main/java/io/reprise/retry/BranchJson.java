// SPDX-License-Identifier: Apache-2.0
package io.reprise.retry;

import io.reprise.failure.FailureClass;
import io.reprise.failure.Rule;
import io.reprise.retry.Branch.Values;
import io.reprise.text.Bounds;
import io.reprise.text.JsonFields;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The JSON form of a branch: {@code on} says what it matches, the other members what it does. */
final class BranchJson {

    private static final List<String> ITEMS = List.of("classes", "types", "codes", "statuses", "messages");

    /** Members of a policy that a branch may have too. */
    private static final List<String> RETRY = List.of(
            "backoff",
            "delays",
            "base",
            "factor",
            "offset",
            "cap",
            "minDelay",
            "jitter",
            "capOrder",
            "rounding",
            "maxAttempts",
            "retryAfterCap");

    private static final List<String> OWN = List.of("on", "deadlineShare", "counts", "never");

    private BranchJson() {}

    static Map<String, @Nullable Object> write(Branch branch) {
        Values values = branch.values();
        Map<String, Object> on = new LinkedHashMap<>();
        if (values.items() == null) {
            on.put("classes", values.classes().stream().map(FailureClass::name).toList());
        } else {
            Map<String, Object> rule = RuleJson.write(values.items());
            rule.keySet().retainAll(ITEMS);
            on.putAll(rule);
        }
        Map<String, @Nullable Object> out = new LinkedHashMap<>();
        out.put("on", on);
        out.putAll(PolicyJson.members(values.retry()));
        if (values.deadlineShare() != null) {
            out.put("deadlineShare", values.deadlineShare());
        }
        if (!values.counts()) {
            out.put("counts", false);
        }
        if (values.never()) {
            out.put("never", true);
        }
        return out;
    }

    static Branch read(@Nullable Object value) {
        List<String> allowed = new ArrayList<>(OWN);
        allowed.addAll(RETRY);
        JsonFields in = JsonFields.of("branch", value, allowed).require("on");
        Branch[] matching = new Branch[1];
        in.object("on", on -> matching[0] = matching(on));
        Values base = matching[0].values();
        Double[] share = new Double[1];
        boolean[] flags = {true, false};
        in.number("deadlineShare", number -> share[0] = number);
        in.bool("counts", flag -> flags[0] = flag);
        in.bool("never", flag -> flags[1] = flag);
        RetryPolicy retry = retry(value);
        if (flags[1] && (!retry.equals(RetryPolicy.unset()) || share[0] != null || !flags[0])) {
            throw new IllegalArgumentException("a branch with never must set nothing else");
        }
        if (retry.setsBackoff() && !in.has("delays") && retry.base().isEmpty()) {
            throw new IllegalArgumentException(
                    "branch " + matching[0].name() + " needs the field \"base\" beside its backoff");
        }
        Branch.Builder builder = new Branch.Builder(
                RetryPolicy.unset(),
                new Branch(new Values(base.classes(), base.items(), retry, null, flags[0], flags[1])));
        return share[0] == null
                ? builder.policy().branches().get(0)
                : builder.deadlineShare(share[0]).policy().branches().get(0);
    }

    private static RetryPolicy retry(@Nullable Object value) {
        Map<String, @Nullable Object> members = new LinkedHashMap<>();
        if (value instanceof Map<?, ?> all) {
            all.forEach((name, member) -> {
                if (RETRY.contains(name)) {
                    members.put(String.valueOf(name), member);
                }
            });
        }
        return new RetryPolicy(PolicyJson.read(members));
    }

    private static Branch matching(Object on) {
        JsonFields in = JsonFields.of("on of a branch", on, ITEMS);
        List<FailureClass> classes = new ArrayList<>();
        in.list(
                "classes",
                list -> list.forEach(item ->
                        classes.add(PolicyJson.failureClass("classes of a branch", in.asText("classes", item)))));
        Rule items = RuleJson.items(Branch.ITEMS, in);
        if ((items == null) == classes.isEmpty()) {
            throw Bounds.refused("on", on, "either classes, or types, codes, statuses or messages");
        }
        return items == null ? Branch.ofClasses(classes) : Branch.ofItems(items);
    }
}
