// SPDX-License-Identifier: Apache-2.0
package io.reprise.spring;

import io.reprise.JobHandler;
import io.reprise.Schedule;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.SmartLifecycle;
import org.springframework.transaction.PlatformTransactionManager;

/**
 * Registers the handlers when all beans are there, and starts the worker when the context is ready. The worker is the
 * last to start and the first to stop. The store stays open until the Reprise bean is destroyed, so that the web server
 * can still enqueue.
 */
final class RepriseLifecycle implements SmartLifecycle, SmartInitializingSingleton {

    private final RepriseRuntime runtime;
    private final RepriseProperties properties;
    private final ConfigurableListableBeanFactory beans;
    private final List<Schedule> schedules = new ArrayList<>();
    private volatile boolean running;

    RepriseLifecycle(RepriseRuntime runtime, RepriseProperties properties, ConfigurableListableBeanFactory beans) {
        this.runtime = runtime;
        this.properties = properties;
        this.beans = beans;
    }

    @Override
    public void afterSingletonsInstantiated() {
        List<String> problems = new ArrayList<>();
        HandlerDiscovery discovery = new HandlerDiscovery(beans, properties, problems);
        discovery.find();
        PlatformTransactionManager manager = null;
        if (discovery.handlers().values().stream().anyMatch(HandlerDiscovery.Found::transactional)) {
            manager = manager(problems);
        }
        RepriseConfigurationException.throwIfAny(problems);
        for (HandlerDiscovery.Found<?> found : discovery.handlers().values()) {
            runtime.types().add(found.type().name(), found.defaults());
            if (properties.worker().enabled()) {
                register(found, manager);
            }
        }
        schedules.addAll(discovery.schedules());
        properties.types().forEach((name, set) -> {
            if (set.elsewhere() && !discovery.handlers().containsKey(name)) {
                runtime.types()
                        .add(
                                name,
                                new KnownTypes.Defaults(
                                        set.queue(),
                                        set.resource(),
                                        set.timeout(),
                                        new PolicySettings(java.util.Map.of(), problems)
                                                .of("reprise.types." + name + ".retry", set.retry())));
            }
        });
        RepriseConfigurationException.throwIfAny(problems);
        if (properties.worker().enabled()) {
            runtime.types().complete();
        }
    }

    @SuppressWarnings("unchecked")
    private <P> void register(HandlerDiscovery.Found<P> found, @Nullable PlatformTransactionManager manager) {
        JobHandler<P> handler = found.handler();
        if (found.transactional() && manager != null) {
            handler = (JobHandler<P>)
                    new TransactionalHandler((JobHandler<Object>) handler, manager, runtime.transactions());
        }
        runtime.builder().handle(found.type(), handler);
    }

    private @Nullable PlatformTransactionManager manager(List<String> problems) {
        String name = properties.store().transactionManager();
        if (name != null) {
            if (beans.containsBean(name) && beans.isTypeMatch(name, PlatformTransactionManager.class)) {
                return beans.getBean(name, PlatformTransactionManager.class);
            }
            problems.add("reprise.store.transaction-manager=" + name + ": there is no such bean; write one of "
                    + List.of(beans.getBeanNamesForType(PlatformTransactionManager.class)));
            return null;
        }
        PlatformTransactionManager one =
                beans.getBeanProvider(PlatformTransactionManager.class).getIfUnique();
        if (one == null) {
            problems.add("A handler with transactional = true needs one transaction manager, but there are "
                    + List.of(beans.getBeanNamesForType(PlatformTransactionManager.class))
                    + ": set reprise.store.transaction-manager to that of the database of Reprise");
        }
        return one;
    }

    @Override
    public synchronized void start() {
        if (!running && properties.worker().enabled()) {
            schedules.forEach(runtime.reprise()::schedule);
            runtime.reprise().startWorker();
        }
        running = true;
    }

    @Override
    public synchronized void stop() {
        runtime.reprise().stopWorker();
        running = false;
    }

    /** In a thread of its own, so that other beans of the phase stop meanwhile. */
    @Override
    public void stop(Runnable callback) {
        new Thread(
                        () -> {
                            try {
                                stop();
                            } finally {
                                callback.run();
                            }
                        },
                        "reprise-stop")
                .start();
    }

    @Override
    public boolean isRunning() {
        return running;
    }

    @Override
    public int getPhase() {
        return Integer.MAX_VALUE;
    }
}
