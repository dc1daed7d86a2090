// SPDX-License-Identifier: Apache-2.0
package io.reprise.cli;

import io.reprise.cli.terminal.Cells;
import io.reprise.cli.terminal.TextTable;
import java.io.PrintWriter;
import java.util.List;
import tools.jackson.databind.JsonNode;

/** Shows jobs as text for people. */
final class JobTexts {

    private static final List<String> FACTS = List.of(
            "type",
            "queue",
            "resource",
            "group",
            "tags",
            "key",
            "schedule",
            "priority",
            "worker",
            "createdAt",
            "startedAt",
            "finishedAt",
            "nextRetryAt",
            "deadline",
            "timeout",
            "losses",
            "snoozes",
            "granted",
            "payload",
            "result");

    private JobTexts() {}

    static void table(JsonNode page, PrintWriter out) {
        if (page.path("items").isEmpty()) {
            out.println("No jobs.");
            return;
        }
        TextTable table = new TextTable(">id", "type", "queue", "state", ">attempts", "when", "error");
        for (JsonNode job : page.path("items")) {
            table.add(
                    Cells.text(job.path("id")),
                    Cells.text(job.path("type")),
                    Cells.text(job.path("queue")),
                    state(job),
                    attempts(job),
                    Cells.time(when(job)),
                    error(job.path("lastError")));
        }
        table.print(out);
        if (!page.path("next").isNull()) {
            out.println("There are more: --cursor " + Cells.text(page.path("next")));
        }
    }

    static void show(JsonNode job, JsonNode explanation, PrintWriter out) {
        out.println("Job " + Cells.text(job.path("id")) + ": " + state(job) + ", " + attempts(job));
        out.println(Cells.text(explanation.path("sentence")));
        for (String fact : FACTS) {
            JsonNode value = job.path(fact);
            boolean empty = value.isNull() || value.isMissingNode() || (value.isContainer() && value.isEmpty());
            if (!empty && !(value.isNumber() && value.intValue() == 0)) {
                out.println("  " + fact + ": " + Cells.text(value));
            }
        }
        if (job.path("history").isEmpty()) {
            return;
        }
        out.println();
        TextTable table = new TextTable(">attempt", "ended", "ending", "decision", "rule", "error");
        for (JsonNode attempt : job.path("history")) {
            JsonNode decision = attempt.path("decision");
            String delay = decision.path("delay").isString() ? " in " + Cells.text(decision.path("delay")) : "";
            table.add(
                    Cells.text(attempt.path("number")),
                    Cells.time(attempt.path("endedAt")),
                    Cells.text(attempt.path("ending")),
                    Cells.text(decision.path("kind")) + delay,
                    Cells.cut(decision.path("rule")),
                    error(attempt.path("failure")));
        }
        table.print(out);
    }

    static void steps(JsonNode page, PrintWriter out) {
        if (page.path("items").isEmpty()) {
            out.println("No steps");
            return;
        }
        TextTable table = new TextTable("step", "kind", "state", "stored", "until", "value");
        for (JsonNode step : page.path("items")) {
            JsonNode failure = step.path("failure");
            table.add(
                    Cells.text(step.path("name")),
                    Cells.text(step.path("kind")),
                    Cells.text(step.path("state")),
                    Cells.time(step.path("at")),
                    Cells.time(step.path("dueAt")),
                    Cells.cut(failure.isObject() ? failure.path("message") : step.path("value")));
        }
        table.print(out);
    }

    /** Prints log lines; the number of the run stands before each. */
    static void log(JsonNode page, PrintWriter out) {
        if (page.path("items").isEmpty()) {
            out.println("No lines");
            return;
        }
        TextTable table = new TextTable("run", "written", "line");
        for (JsonNode line : page.path("items")) {
            table.add(Cells.text(line.path("fence")), Cells.time(line.path("at")), Cells.text(line.path("text")));
        }
        table.print(out);
    }

    /** Returns the job's attempts and how many it may have. */
    static String attempts(JsonNode job) {
        JsonNode most = job.path("maxAttempts");
        return Cells.text(job.path("attempts")) + " of " + (most.isNull() ? "any" : Cells.text(most));
    }

    static String event(JsonNode event) {
        StringBuilder line = new StringBuilder(Cells.time(event.path("at")))
                .append("  ")
                .append(String.format("%-15s", Cells.text(event.path("kind"))));
        if (!event.has("id")) {
            return line.append("  ")
                    .append(Cells.text(event.path(event.has("why") ? "why" : "message")))
                    .toString();
        }
        line.append("  job ").append(Cells.text(event.path("id")));
        line.append("  ").append(Cells.text(event.path("type")));
        line.append("  ").append(Cells.text(event.path("queue")));
        if (event.path("dueAt").isString()) {
            line.append("  due ").append(Cells.time(event.path("dueAt")));
        }
        String error = error(event.path("failure"));
        return error.equals("-")
                ? line.toString()
                : line.append("  ").append(error).toString();
    }

    private static String state(JsonNode job) {
        JsonNode reason = job.path("waitReason").isString() ? job.path("waitReason") : job.path("failReason");
        return Cells.text(job.path("state")) + (reason.isString() ? " " + Cells.text(reason) : "");
    }

    private static JsonNode when(JsonNode job) {
        return job.path("finishedAt").isString()
                ? job.path("finishedAt")
                : job.path("state").stringValue("").equals("RUNNING") ? job.path("startedAt") : job.path("dueAt");
    }

    private static String error(JsonNode error) {
        return error.isObject() ? Cells.cut(error.path("message")) : "-";
    }
}
