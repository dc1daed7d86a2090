// SPDX-License-Identifier: Apache-2.0
package io.reprise.server;

import io.opentelemetry.api.GlobalOpenTelemetry;
import io.reprise.Reprise;
import io.reprise.RepriseBuilder;
import io.reprise.job.JobSpec;
import io.reprise.opentelemetry.JobTracing;
import io.reprise.server.api.Api;
import io.reprise.server.api.AuditWriter;
import io.reprise.server.api.BatchEndpoints;
import io.reprise.server.api.BytesMeter;
import io.reprise.server.api.DeadLetterEndpoints;
import io.reprise.server.api.InsightEndpoints;
import io.reprise.server.api.JobEndpoints;
import io.reprise.server.api.KeyEndpoints;
import io.reprise.server.api.LeaseWaits;
import io.reprise.server.api.Meters;
import io.reprise.server.api.Outgoing;
import io.reprise.server.api.PolicyBook;
import io.reprise.server.api.PolicyEndpoints;
import io.reprise.server.api.QueueEndpoints;
import io.reprise.server.api.QuotaEndpoints;
import io.reprise.server.api.Readiness;
import io.reprise.server.api.ResourceEndpoints;
import io.reprise.server.api.ScheduleEndpoints;
import io.reprise.server.api.SystemEndpoints;
import io.reprise.server.auth.Gatekeeper;
import io.reprise.server.auth.Keys;
import io.reprise.server.auth.Oidc;
import io.reprise.server.auth.Quotas;
import io.reprise.server.auth.SessionEndpoints;
import io.reprise.server.auth.Sessions;
import io.reprise.server.auth.Tenancy;
import io.reprise.server.bulk.BulkEndpoints;
import io.reprise.server.bulk.BulkRunner;
import io.reprise.server.dashboard.DashboardEndpoints;
import io.reprise.server.events.EventEndpoints;
import io.reprise.server.events.EventLog;
import io.reprise.server.events.FleetEvents;
import io.reprise.server.http.Endpoints;
import io.reprise.server.http.HttpServer;
import io.reprise.server.http.Operation;
import io.reprise.server.lease.LeaseEndpoints;
import io.reprise.server.net.HttpSettings;
import io.reprise.server.replay.ReplayEndpoints;
import io.reprise.server.replay.Replayer;
import io.reprise.server.settings.SettingsEndpoints;
import io.reprise.server.steps.StepEndpoints;
import io.reprise.store.JobStore;
import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The whole server: the engine, its monitoring, and the API. Thread-safe. */
public final class RepriseServer implements AutoCloseable {

    private final Reprise reprise;
    private final LeaseWaits waiting;
    private final Readiness readiness;
    private final EventEndpoints events;
    private final FleetEvents fleet;
    private final Replayer replayer;
    private final BulkRunner bulks;
    private final BytesMeter bytes;
    private final Meters meters;
    private final HttpServer http;
    private final Outgoing outgoing;
    private final Sessions sessions;

    /**
     * The parts of a server.
     *
     * @param name name of this process in the fleet
     * @param rate requests per second that one key may send
     * @param outgoing calls to other servers
     * @param quotas limits of a tenant
     * @param oidc provider whose tokens count beside keys; null if there is none
     * @param auditReads whether the audit log records reads of payloads
     * @param more further parts of the API, created when the engine runs
     */
    public record Parts(
            String name,
            String version,
            HttpSettings http,
            int rate,
            Outgoing outgoing,
            Quotas.Limits quotas,
            @Nullable Oidc oidc,
            boolean auditReads,
            List<Function<Api, Endpoints>> more) {

        /** Creates parts with the default quotas. */
        public Parts(
                String name,
                String version,
                HttpSettings http,
                int rate,
                Outgoing outgoing,
                List<Function<Api, Endpoints>> more) {
            this(name, version, http, rate, outgoing, Quotas.Limits.DEFAULT, null, false, more);
        }
    }

    private RepriseServer(
            Reprise reprise, JobStore store, Parts parts, EventLog log, Meters meters, Keys keys, Quotas quotas)
            throws IOException {
        this.reprise = reprise;
        this.meters = meters;
        this.waiting = new LeaseWaits(store);
        this.readiness = new Readiness(store, reprise::parts);
        this.events = new EventEndpoints(log, quotas);
        this.fleet = new FleetEvents(store, parts.name, log);
        this.bytes = new BytesMeter(quotas);
        this.bulks = new BulkRunner(store);
        this.replayer = new Replayer(reprise, store, parts.outgoing.codec(), parts.name, System::nanoTime);
        this.outgoing = parts.outgoing;
        this.sessions = new Sessions(keys, store, InstantSource.system());
        Api api = new Api(reprise, store, outgoing.check(), outgoing.codec(), quotas);
        meters.count(
                "reprise.webhooks.missed",
                "Steps of jobs that a webhook should have received but did not",
                outgoing::missed);
        this.http = listen(parts, api, keys);
        replayer.start();
        bytes.start();
        fleet.start();
    }

    /**
     * Starts the engine on this store and listens.
     *
     * @param builder with settings, but without store, codec and remote workers
     * @param store a prepared store; it is closed with the server
     */
    public static RepriseServer start(RepriseBuilder builder, JobStore store, Parts parts) throws IOException {
        EventLog log = new EventLog(System.currentTimeMillis());
        Meters meters = new Meters();
        Keys keys = new Keys(store, InstantSource.system());
        Quotas quotas = new Quotas(store, parts.quotas, InstantSource.system());
        // Records if the process has an OpenTelemetry, such as that of its Java agent.
        JobTracing tracing = new JobTracing(GlobalOpenTelemetry.get());
        Reprise reprise = parts.outgoing
                .join(builder)
                .interceptor(tracing)
                .listener(tracing)
                .store(store)
                .name(parts.name)
                .remoteWorkers()
                .listener(log)
                .listener(meters.listener())
                .schedulesFireIf(job -> mayFire(job, keys, quotas, parts.oidc != null))
                .start();
        meters.watch(reprise);
        try {
            return new RepriseServer(reprise, store, parts, log, meters, keys, quotas);
        } catch (IOException | RuntimeException e) {
            reprise.close();
            parts.outgoing.close();
            throw e;
        }
    }

    /** The operator's queues may have names with a slash too. Who the tenants of an OpenID provider are is not known beforehand. */
    private static boolean mayFire(JobSpec job, Keys keys, Quotas quotas, boolean tokens) {
        String tenant = Tenancy.tenant(job.queue());
        return tenant == null || !(tokens || keys.isTenant(tenant)) || quotas.mayFire(tenant, job);
    }

    /** Whether browsers reach the server without TLS, on this machine. Only then may a cookie travel without it. */
    private static boolean isLocal(HttpSettings http) {
        try {
            return http.tls() == null && InetAddress.getByName(http.host()).isLoopbackAddress();
        } catch (UnknownHostException e) {
            return false;
        }
    }

    /** Returns a link to the dashboard that logs in once, as this key. */
    public String loginLink(String keyId) {
        return url() + "/#/login?link=" + sessions.link(keyId);
    }

    private HttpServer listen(Parts parts, Api api, Keys keys) throws IOException {
        List<Endpoints> all = new ArrayList<>(endpoints(api, keys, waiting, replayer, bulks));
        all.add(new SessionEndpoints(sessions, !isLocal(parts.http)));
        DashboardEndpoints dashboard = new DashboardEndpoints(api);
        all.add(dashboard);
        events.pulse(dashboard::pulse);
        all.add(new LeaseEndpoints(api, waiting));
        all.add(events);
        all.add(outgoing.endpoints(api.reprise(), api.quotas()));
        parts.more.forEach(part -> all.add(part.apply(api)));
        List<Operation> operations = new ArrayList<>();
        SystemEndpoints system =
                new SystemEndpoints(readiness, meters::text, parts.version, () -> List.copyOf(operations));
        all.add(system);
        all.forEach(part -> operations.addAll(part.operations()));
        Gatekeeper gate = new Gatekeeper(
                sessions,
                parts.oidc,
                parts.rate,
                InstantSource.system(),
                new AuditWriter(api.store(), parts.auditReads));
        meters.count("reprise.http.wrong.keys", "Wrong API keys that were shown", gate::wrongKeys);
        return HttpServer.start(parts.http, gate, List.of(() -> operations));
    }

    /** Returns the endpoints that need no engine. */
    static List<Endpoints> endpoints(Api api, Keys keys, LeaseWaits waiting, Replayer replayer, BulkRunner bulks) {
        PolicyBook policies = new PolicyBook(api.store());
        return List.of(
                new JobEndpoints(api, policies, waiting),
                new StepEndpoints(api),
                new BatchEndpoints(api, policies),
                new DeadLetterEndpoints(api),
                new ReplayEndpoints(api, replayer),
                new BulkEndpoints(api, policies, bulks),
                new QueueEndpoints(api),
                new ResourceEndpoints(api),
                new ScheduleEndpoints(api, policies),
                new PolicyEndpoints(api, policies),
                new SettingsEndpoints(api.store(), policies),
                new InsightEndpoints(api),
                new QuotaEndpoints(api.quotas()),
                new KeyEndpoints(keys));
    }

    public String url() {
        return http.url();
    }

    public int port() {
        return http.port();
    }

    /** Returns the number of requests that wait. */
    public int waiting() {
        return waiting.size();
    }

    public Reprise reprise() {
        return reprise;
    }

    /** Reports that it is not ready, and goes on for a while, so that load balancers send no more requests. */
    public void drain(Duration pause) throws InterruptedException {
        readiness.stopping();
        TimeUnit.NANOSECONDS.sleep(pause.toNanos());
    }

    /** Takes no more requests, lets running jobs finish, and closes the store. */
    @Override
    public void close() {
        waiting.finish();
        http.close();
        replayer.close();
        bulks.close();
        bytes.close();
        fleet.close();
        events.close();
        waiting.close();
        readiness.close();
        reprise.close();
        outgoing.close();
        meters.close();
    }
}
