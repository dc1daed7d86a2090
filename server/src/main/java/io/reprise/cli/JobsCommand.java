// SPDX-License-Identifier: Apache-2.0
package io.reprise.cli;

import io.reprise.cli.base.BadInput;
import io.reprise.cli.base.BulkOptions;
import io.reprise.cli.base.ChangeOptions;
import io.reprise.cli.base.ExitCode;
import io.reprise.cli.base.OptionText;
import io.reprise.cli.base.Why;
import io.reprise.cli.terminal.Cells;
import io.reprise.cli.terminal.Terminal;
import io.reprise.server.client.Link;
import io.reprise.server.client.ServerTarget;
import io.reprise.server.http.Json;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

@Command(
        name = "jobs",
        description = "Look at jobs, enqueue, retry and cancel them. Without a command: list.",
        synopsisSubcommandLabel = "[COMMAND]",
        footer = {
            "",
            "Examples:",
            "  reprise jobs --store sqlite:reprise.db",
            "  reprise jobs list --state failed --since 2h",
            "  reprise jobs enqueue resize --payload '{\"file\":\"a.png\"}' --wait 1m"
        })
final class JobsCommand extends LinkedCommand {

    JobsCommand(Terminal terminal) {
        super(terminal);
    }

    @Mixin
    final JobFilter listed = new JobFilter();

    @Option(names = "--state", paramLabel = "STATES", description = "One or more, with commas between.")
    @Nullable
    String listedStates;

    @Mixin
    final PageOptions listedPage = new PageOptions();

    @Override
    public Integer call() {
        return list(null, listed, listedStates, listedPage);
    }

    @Command(
            name = "list",
            description = "List jobs, newest first.",
            footer = {
                "",
                "Examples:",
                "  reprise jobs list --state pending,running --queue mail --limit 200",
                "  reprise jobs list 'state:failed type:bill attempt:>3'"
            })
    int list(
            @Parameters(
                            paramLabel = "SEARCH",
                            arity = "0..1",
                            description = "A search in one line; docs/dashboard.md has its words.")
                    @Nullable
                    String search,
            @Mixin JobFilter filter,
            @Option(names = "--state", paramLabel = "STATES", description = "One or more, with commas between.")
                    @Nullable
                    String state,
            @Mixin PageOptions page) {
        return with(link -> {
            ObjectNode all = page.of(
                    link, filter.on(ServerTarget.of("jobs")).with("q", search).with("state", state));
            return answer(all, () -> JobTexts.table(all, terminal.out()));
        });
    }

    @Command(
            name = "show",
            description = "Show one job: what it is, why it is or is not running, and every attempt.",
            footer = {"", "Example:", "  reprise jobs show 17"})
    int show(@Parameters(paramLabel = "ID", description = "Id of the job.") String id) {
        return with(link -> each(List.of(id), each -> {
            JsonNode job = link.get(ServerTarget.of("jobs", id));
            return answer(
                    job, () -> JobTexts.show(job, link.get(ServerTarget.of("jobs", id, "explain")), terminal.out()));
        }));
    }

    @Command(
            name = "enqueue",
            description = "Enqueue a job, or many from a file with one JSON object per line.",
            footer = {
                "",
                "A line of the file is what POST /v1/jobs takes: {\"type\":\"resize\",\"payload\":{…},\"queue\":\"media\"}.",
                "",
                "Examples:",
                "  reprise jobs enqueue resize --payload '{\"file\":\"a.png\"}' --policy omniq",
                "  reprise jobs enqueue --file jobs.jsonl",
                "  reprise jobs enqueue --file parts.jsonl --batch import-7"
            })
    int enqueue(
            @Parameters(paramLabel = "TYPE", arity = "0..1", description = "What kind of work it is.") @Nullable
                    String type,
            @Mixin JobOptions options,
            @Option(
                            names = "--idempotency-key",
                            paramLabel = "KEY",
                            description = "The same key again leads to the same job, even a finished one.")
                    @Nullable
                    String idempotencyKey,
            @Option(
                            names = "--file",
                            paramLabel = "FILE",
                            description = "A job per line; - for standard input. All lines are read first.")
                    @Nullable
                    Path file,
            @Option(
                            names = "--batch",
                            paramLabel = "NAME",
                            description = "Make them members of this batch, which must be there and open.")
                    @Nullable
                    String batch,
            @Option(
                            names = "--wait",
                            paramLabel = "TIME",
                            description = "Wait so long for its end; the exit code is 1 if it did not succeed.")
                    @Nullable
                    Duration wait) {
        BadInput.require((type == null) != (file == null), "Give either a TYPE or a --file");
        if (file != null) {
            BadInput.require(wait == null, "--wait is for one job, not for a --file");
            List<JsonNode> jobs = JobLines.read(file, terminal);
            return with(link -> new EnqueueLines(link, terminal, json).run(jobs, batch));
        }
        ObjectNode job = options.json(String.valueOf(type));
        if (idempotencyKey != null) {
            job.put("idempotencyKey", idempotencyKey);
        }
        return with(link -> {
            JsonNode enqueued =
                    link.post(batch == null ? ServerTarget.of("jobs") : ServerTarget.of("batches", batch, "jobs"), job);
            String id =
                    (batch == null ? enqueued.path("id") : enqueued.path("ids").path(0)).stringValue("");
            if (wait != null) {
                return await(link, id, wait);
            }
            if (batch != null) {
                JsonNode total = enqueued.path("batch").path("total");
                return answer(
                        enqueued, "Job %s was sent to batch %s, which has %s members", id, batch, Cells.text(total));
            }
            boolean created = enqueued.path("created").booleanValue(true);
            return answer(
                    enqueued,
                    created ? "Job %s is enqueued, due %s" : "Job %s was there already, due %s",
                    id,
                    Cells.time(enqueued.path("dueAt")));
        });
    }

    private int await(Link link, String id, Duration wait) {
        JsonNode job = new Await(link).job(id, wait);
        String state = job.path("state").stringValue("");
        answer(job, "Job %s is %s after %s", id, state, JobTexts.attempts(job));
        return state.equals("SUCCEEDED") ? ExitCode.OK : ExitCode.FINDING;
    }

    @Command(
            name = "retry",
            description = "Retry dead letters, or bring waiting jobs forward.",
            footer = {
                "",
                "Examples:",
                "  reprise jobs retry 17 18 --grant 2 --why 'the disk is back'",
                "  reprise jobs retry 17 --at 2026-12-01T09:00Z"
            })
    int retry(
            @Parameters(paramLabel = "ID", arity = "1..*", description = "Ids of jobs.") List<String> ids,
            @Option(names = "--backoff", description = "After the policy's delay instead of at once.") boolean backoff,
            @Option(
                            names = "--at",
                            paramLabel = "TIME",
                            description = "At this time instead of at once, such as 2026-12-01T09:00Z.")
                    @Nullable
                    String at,
            @Option(names = "--grant", paramLabel = "N", description = "Add so many attempts.") @Nullable Integer grant,
            @Option(names = "--reset", description = "Start all counters at zero.") boolean reset,
            @Option(names = "--force", description = "Even what is not retryable or has spent its attempts.")
                    boolean force,
            @Mixin Why why) {
        BadInput.require(at == null || !backoff, "--at and --backoff both say when: give one of them");
        ObjectNode body = why.body().put("backoff", backoff).put("reset", reset).put("force", force);
        if (at != null) {
            body.put("at", OptionText.time("--at", at));
        }
        if (grant != null) {
            body.put("grant", grant);
        }
        return with(link -> each(ids, id -> {
            JsonNode job = link.post(ServerTarget.of("jobs", id, "retry"), body);
            return answer(
                    job, "Job %s is %s, due %s", id, Cells.text(job.path("state")), Cells.time(job.path("dueAt")));
        }));
    }

    @Command(
            name = "change",
            description = "Change waiting jobs: some by id, or all that a search finds.",
            footer = {
                "",
                "A job that runs is refused. Ctrl-C only ends the watching of a search: the server goes on.",
                "",
                "Examples:",
                "  reprise jobs change 17 --at 2026-12-01T09:00Z --why 'not before the release'",
                "  reprise jobs change --to 'type:bill state:pending' --priority 5 --dry-run"
            })
    int change(
            @Parameters(paramLabel = "ID", arity = "0..*", description = "Ids of jobs.") @Nullable List<String> ids,
            @Mixin ChangeOptions options,
            @Mixin BulkOptions bulk,
            @Mixin Why why) {
        List<String> some = ids == null ? List.of() : ids;
        BadInput.require(some.isEmpty() == (bulk.to != null), "Say which: ids, or --to with a search; but not both");
        ObjectNode change = options.json();
        if (bulk.to != null) {
            ObjectNode order = why.body().put("action", "change");
            order.set("change", change);
            return with(link -> bulk.start(terminal, json, link, order));
        }
        BadInput.require(!bulk.dryRun && !bulk.detach, "--dry-run and --detach are for --to");
        change.setAll(why.body());
        return with(link -> each(some, id -> {
            JsonNode job = link.post(ServerTarget.of("jobs", id, "change"), change);
            return answer(
                    job,
                    "Job %s waits in queue %s with priority %s, due %s",
                    id,
                    Cells.text(job.path("queue")),
                    Cells.text(job.path("priority")),
                    Cells.time(job.path("dueAt")));
        }));
    }

    @Command(
            name = "cancel",
            description = "End waiting jobs, and ask the workers of running ones to stop them.",
            footer = {"", "Example:", "  reprise jobs cancel 17 --why 'sent twice'"})
    int cancel(
            @Parameters(paramLabel = "ID", arity = "1..*", description = "Ids of jobs.") List<String> ids,
            @Mixin Why why) {
        return with(link -> each(ids, id -> {
            JsonNode job = link.post(ServerTarget.of("jobs", id, "cancel"), why.body());
            boolean done = job.path("state").stringValue("").equals("CANCELLED");
            return answer(job, done ? "Job %s is cancelled" : "The worker of job %s was asked to stop it", id);
        }));
    }

    @Command(
            name = "log",
            description = "Show the lines that the handlers of a job wrote in its latest runs.",
            footer = {"", "Example:", "  reprise jobs log 17"})
    int log(@Parameters(paramLabel = "ID", description = "Id of the job.") String id) {
        return with(link -> {
            JsonNode log = link.get(ServerTarget.of("jobs", id, "log"));
            return answer(log, () -> JobTexts.log(log, terminal.out()));
        });
    }

    @Command(
            name = "steps",
            description = "Show what a job has done: its steps, sleeps and events.",
            footer = {"", "Example:", "  reprise jobs steps 17"})
    int steps(@Parameters(paramLabel = "ID", description = "Id of the job.") String id) {
        return with(link -> shown(link.get(ServerTarget.of("jobs", id, "steps"))));
    }

    private int shown(JsonNode steps) {
        return answer(steps, () -> JobTexts.steps(steps, terminal.out()));
    }

    @Command(
            name = "tell",
            description = "Tell a job an event that its handler waits for, or will wait for.",
            footer = {"", "Example:", "  reprise jobs tell 17 approval '{\"by\":\"ada\"}'"})
    int tell(
            @Parameters(paramLabel = "ID", description = "Id of the job.") String id,
            @Parameters(paramLabel = "EVENT", description = "Name of the event.") String event,
            @Parameters(paramLabel = "JSON", description = "What the handler gets.") String value) {
        BadInput.require(Json.isJson(value), "The event is not JSON: put a text into double quotes");
        ObjectNode body = Json.object().put("name", event);
        body.set("value", Json.parse(value));
        return with(link -> {
            JsonNode told = link.post(ServerTarget.of("jobs", id, "events"), body);
            boolean stored = told.path("told").booleanValue(false);
            answer(
                    told,
                    stored ? "Job %s knows event %s" : "Job %s knew event %s before, or waited too long",
                    id,
                    event);
            return stored ? ExitCode.OK : ExitCode.FINDING;
        });
    }

    @Command(
            name = "resolve",
            description = "Say how a step ended that must not run twice, and retry its job.",
            footer = {
                "",
                "Examples:",
                "  reprise jobs resolve 17 charge done --result '{\"id\":1}'",
                "  reprise jobs resolve 17 charge again",
                "  reprise jobs resolve 17 charge failed --why 'the bank refused it'"
            })
    int resolve(
            @Parameters(paramLabel = "ID", description = "Id of the job.") String id,
            @Parameters(paramLabel = "STEP", description = "Name of the step.") String step,
            @Parameters(paramLabel = "OUTCOME", description = "done, again or failed.") String outcome,
            @Option(names = "--result", paramLabel = "JSON", description = "Of done: what the handler gets.") @Nullable
                    String result,
            @Mixin Why why) {
        BadInput.require(List.of("done", "again", "failed").contains(outcome), "OUTCOME must be done, again or failed");
        BadInput.require(result == null || Json.isJson(result), "The result is not JSON");
        BadInput.require(result == null || outcome.equals("done"), "--result belongs to done, not to " + outcome);
        ObjectNode body = why.body().put("step", step).put("outcome", outcome);
        if (result != null) {
            body.set("result", Json.parse(result));
        }
        return with(link -> shown(link.post(ServerTarget.of("jobs", id, "steps", "resolve"), body)));
    }

    @Command(
            name = "forget",
            description = "Forget steps of a job that does not run, so that its next run does them again.",
            footer = {
                "",
                "Examples:",
                "  reprise jobs forget 17 charge --later --why 'wrong prices'",
                "  reprise jobs forget 17"
            })
    int forget(
            @Parameters(paramLabel = "ID", description = "Id of the job.") String id,
            @Parameters(paramLabel = "STEP", arity = "0..1", description = "Name of the step; all unless given.")
                    @Nullable
                    String step,
            @Option(names = "--later", description = "Also the steps that were stored at the same time or later.")
                    boolean later,
            @Mixin Why why) {
        ObjectNode body = why.body();
        if (step != null) {
            body.put("step", step).put("later", later);
        }
        return with(link -> shown(link.post(ServerTarget.of("jobs", id, "steps", "forget"), body)));
    }

    @Command(
            name = "tail",
            description = "Show what happens to jobs, as it happens, until Ctrl-C.",
            footer = {
                "",
                "A server tells every step of the whole fleet. On a store, the newest 1000 jobs are looked at twice a second,",
                "and steps between two looks are not seen.",
                "",
                "Example:",
                "  reprise jobs tail --queue mail"
            })
    int tail(
            @Option(names = "--queue", paramLabel = "NAME", description = "Only of this queue.") @Nullable String queue,
            @Option(names = "--type", paramLabel = "NAME", description = "Only of this type.") @Nullable String type,
            @Option(names = "--job", paramLabel = "ID", description = "Only of this job.") @Nullable String job,
            @Option(names = "--count", paramLabel = "N", description = "End after so many lines.") @Nullable
                    Integer count) {
        BadInput.require(count == null || count > 0, "--count must be at least 1");
        ServerTarget filter = ServerTarget.of("events")
                .with("queue", queue)
                .with("type", type)
                .with("job", job);
        int[] left = {count == null ? Integer.MAX_VALUE : count};
        return with(link -> {
            terminal.err().println("Watching " + link.scope() + "; Ctrl-C ends it.");
            link.follow(filter, event -> {
                terminal.out().println(json ? Json.text(event) : JobTexts.event(event));
                terminal.out().flush();
                return --left[0] > 0;
            });
            return ExitCode.OK;
        });
    }
}
