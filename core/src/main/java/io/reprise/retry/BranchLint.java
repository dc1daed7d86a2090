// SPDX-License-Identifier: Apache-2.0
package io.reprise.retry;

import io.reprise.failure.Failure;
import io.reprise.failure.FailureClass;
import io.reprise.failure.Rule;
import io.reprise.retry.RetryPlan.Warning;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Stream;

/** Finds branches and rules of a complete policy that can never decide. */
final class BranchLint {

    private final RetryPolicy policy;
    private final Consumer<Warning> warn;

    private BranchLint(RetryPolicy policy, Consumer<Warning> warn) {
        this.policy = policy;
        this.warn = warn;
    }

    static void check(RetryPolicy complete, Consumer<Warning> warn) {
        BranchLint lint = new BranchLint(complete, warn);
        lint.rules();
        for (int i = 0; i < complete.branches().size(); i++) {
            lint.branch(complete.branches().get(i), complete.branches().subList(0, i));
        }
    }

    /** A rule all of whose items stand in earlier rules never decides. Patterns are compared as text. */
    private void rules() {
        Set<String> before = new HashSet<>();
        for (Rule rule : policy.rules()) {
            boolean builtIn = DefaultRules.RULES.contains(rule);
            if (!builtIn && items(rule).allMatch(before::contains)) {
                warn.accept(new Warning(
                        "rule-shadowed", "Rule " + rule.name() + " never decides: earlier rules match all its items."));
            }
            items(rule).forEach(before::add);
        }
    }

    private static Stream<String> items(Rule rule) {
        return Stream.of(
                        rule.types().stream().map(type -> "type " + type),
                        rule.codes().stream().map(code -> "code " + code),
                        rule.statuses().stream().map(status -> "status " + status),
                        rule.messages().stream().map(message -> "message " + message))
                .flatMap(each -> each);
    }

    private void branch(Branch branch, List<Branch> before) {
        if (isUnreachable(branch)) {
            warn.accept(new Warning(
                    "branch-unreachable", "No rule leads to the branch '" + branch.name() + "', so it never decides."));
        } else if (samples(branch).allMatch(failure -> isTaken(failure, before))) {
            warn.accept(new Warning(
                    "branch-shadowed", "The branch '" + branch.name() + "' never decides: an earlier branch does."));
        }
        if (!branch.counts() && policy.deadline().isNone()) {
            warn.accept(new Warning(
                    "uncounted-without-deadline",
                    "Failures of the branch '" + branch.name()
                            + "' spend no attempt and there is no deadline: they are retried forever."));
        }
    }

    private boolean isUnreachable(Branch branch) {
        return !branch.classes().isEmpty() && branch.classes().stream().noneMatch(this::canHappen);
    }

    private boolean canHappen(FailureClass kind) {
        return switch (kind) {
            case TIMEOUT -> policy.retryTimeouts().orElse(true);
            case TRANSIENT ->
                policy.unclassified().orElse(FailureClass.TRANSIENT) == FailureClass.TRANSIENT || hasRule(kind);
            default -> hasRule(kind);
        };
    }

    private boolean hasRule(FailureClass kind) {
        return policy.rules().stream().anyMatch(rule -> rule.failureClass() == kind);
    }

    private boolean isTaken(Failure failure, List<Branch> before) {
        return before.stream().anyMatch(earlier -> earlier.matches(failure, policy.classify(failure)));
    }

    /** One failure for each thing that the branch matches. A pattern has none: what it matches is not known. */
    private static Stream<Failure> samples(Branch branch) {
        Rule items = branch.values().items();
        if (items == null) {
            return branch.classes().stream().map(kind -> Failure.of(kind, "any", ""));
        }
        if (!items.messages().isEmpty()) {
            return Stream.of(Failure.of(FailureClass.LOST, "any", ""));
        }
        return Stream.of(
                        items.types().stream().map(type -> Failure.reported(type, null, null, "", null)),
                        items.codes().stream().map(code -> Failure.reported("any", code, null, "", null)),
                        items.statuses().stream().map(status -> Failure.reported("any", null, status, "", null)))
                .flatMap(each -> each);
    }
}
