// SPDX-License-Identifier: Apache-2.0
package io.reprise.cli.simulate;

import io.reprise.server.api.Api;
import io.reprise.server.api.PolicyBook;
import io.reprise.server.auth.Tenancy;
import io.reprise.server.http.Answer;
import io.reprise.server.http.Endpoints;
import io.reprise.server.http.Fields;
import io.reprise.server.http.Json;
import io.reprise.server.http.Operation;
import io.reprise.server.http.Problem;
import io.reprise.server.http.ProblemType;
import io.reprise.server.http.Request;
import io.reprise.server.http.Schema;
import io.reprise.server.http.Scope;
import io.reprise.simulator.Candidate;
import io.reprise.simulator.experiment.OutageExperiment;
import io.reprise.simulator.experiment.OutageExperiment.Figures;
import io.reprise.simulator.experiment.OutageExperiment.Setting;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Semaphore;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** The endpoint that simulates an outage with the real engine, one run at a time in this process. */
public final class SimulationEndpoints implements Endpoints {

    private static final int MOST_JOBS = 80_000;
    private static final long MOST_CALLS = 1_000_000;
    private static final int MOST_POLICIES = 4;
    private static final int CONCURRENCY = 400;
    private static final String LINES = "application/x-ndjson";

    private static final Schema REQUEST = Schema.object()
            .may("outageMinutes", Schema.integer(1, 30).about("how long the resource is down; 5 unless given"))
            .may("rate", Schema.integer(1, 20).about("jobs per second; 10 unless given"))
            .may("capacity", Schema.integer(1, 500).about("calls per second that the resource serves; 20 unless given"))
            .may("concurrency", Schema.integer(4, 1_000).about("calls at once of the whole fleet; 400 unless given"))
            .may("seed", Schema.integer(0, 1_000_000).about("the same seed gives the same run; 1 unless given"))
            .must(
                    "policies",
                    Schema.array(Schema.any(), 1, MOST_POLICIES)
                            .about(
                                    "policies in full, or names: stored ones, presets, reprise, river, sidekiq and others"))
            .named("SimulationRequest");

    private static final Schema FIGURES = Schema.object()
            .must("name", Schema.text(1, 200))
            .must("seconds", Schema.integer(0, Integer.MAX_VALUE).about("length of the run"))
            .must("jobs", Schema.integer(0, Integer.MAX_VALUE))
            .must("succeeded", Schema.integer(0, Integer.MAX_VALUE))
            .must("dead", Schema.integer(0, Integer.MAX_VALUE))
            .must("callsPerJob", Schema.number(0, Double.MAX_VALUE))
            .must("peak", Schema.integer(0, Integer.MAX_VALUE).about("most calls in one second after the outage"))
            .must(
                    "p99Seconds",
                    Schema.number(0, Double.MAX_VALUE)
                            .about("time from arrival to success that 99 % of the jobs did not exceed"))
            .must(
                    "callsPerSecond",
                    Schema.array(Schema.number(0, Double.MAX_VALUE), 0, Integer.MAX_VALUE)
                            .about("mean of each 30 seconds, while jobs arrive"))
            .must("cut", Schema.bool().about("whether it was ended early because of too many calls"))
            .named("SimulationFigures");

    /** One in the whole process: a run takes a core for seconds. */
    private static final Semaphore RUNNING = new Semaphore(1);

    private final PolicyBook policies;
    private final SimulationTime time;

    public SimulationEndpoints(Api api) {
        this(api, new SimulationTime());
    }

    SimulationEndpoints(Api api, SimulationTime time) {
        this.policies = new PolicyBook(api.store());
        this.time = time;
    }

    @Override
    public List<Operation> operations() {
        return List.of(Operation.post("/v1/simulations", "simulate")
                .section("Policies")
                .summary("What policies do while a resource is down, by the real engine in virtual time; one at a time")
                .scope(Scope.READ)
                .body(REQUEST)
                .answersEach(200, "a line of JSON for each policy as it is done", LINES, FIGURES)
                .does(this::simulate));
    }

    private Answer simulate(Request request) {
        Fields fields = request.fields();
        Duration outage = Duration.ofMinutes(fields.integer("outageMinutes", 5));
        int rate = fields.integer("rate", 10);
        Duration length = Duration.ofMinutes(1).plus(outage.multipliedBy(2));
        if (rate * length.toSeconds() > MOST_JOBS) {
            throw Problem.invalid("/rate", "is too high for an outage of this length: there may be 80,000 jobs");
        }
        Setting setting = new Setting(
                outage, rate, length, fields.integer("capacity", 20), fields.integer("concurrency", CONCURRENCY));
        Run run = new Run(setting, candidates(request), fields.integer("seed", 1));
        String owner = request.caller().owner();
        time.require(owner);
        if (!RUNNING.tryAcquire()) {
            throw Problem.of(ProblemType.TOO_MANY_REQUESTS, "A simulation is under way; try again in a moment")
                    .header("Retry-After", "5");
        }
        return new Answer.Parts(LINES, () -> time.spend(owner, run), RUNNING::release);
    }

    private List<Candidate> candidates(Request request) {
        Tenancy tenancy = Tenancy.of(request.caller());
        List<Candidate> candidates = new ArrayList<>();
        for (JsonNode given : request.body().get("policies")) {
            String name = given.isString() ? given.stringValue() : "policy " + (candidates.size() + 1);
            candidates.add(Candidate.all().stream()
                    .filter(known -> known.name().equals(name))
                    .findFirst()
                    .orElseGet(() -> new Candidate(
                            name, policies.resolve("/policies/" + candidates.size(), given, tenancy), true)));
        }
        return candidates;
    }

    /** Each part is one candidate. */
    private static final class Run implements Supplier<@Nullable String> {
        private final OutageExperiment experiment;
        private final Setting setting;
        private final Iterator<Candidate> rest;
        private final long seed;

        Run(Setting setting, List<Candidate> candidates, long seed) {
            this.setting = setting;
            this.experiment = new OutageExperiment(setting, candidates);
            this.rest = candidates.iterator();
            this.seed = seed;
        }

        @Override
        public @Nullable String get() {
            return rest.hasNext() ? Json.text(view(experiment.figures(rest.next(), seed, MOST_CALLS))) + "\n" : null;
        }

        private Map<String, Object> view(Figures figures) {
            Map<String, Object> view = new LinkedHashMap<>();
            view.put("name", figures.name());
            view.put("seconds", setting.length().toSeconds());
            view.put("jobs", figures.jobs());
            view.put("succeeded", figures.succeeded());
            view.put("dead", figures.dead());
            view.put("callsPerJob", figures.callsPerJob());
            view.put("peak", figures.peak());
            view.put("p99Seconds", figures.p99Seconds());
            view.put("callsPerSecond", figures.callsPerSecond());
            view.put("cut", figures.cut());
            return view;
        }
    }
}
