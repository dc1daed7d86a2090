// SPDX-License-Identifier: Apache-2.0
package io.reprise.spring;

import io.reprise.JobHandler;
import io.reprise.JobType;
import io.reprise.Schedule;
import io.reprise.retry.LossRule;
import io.reprise.retry.RetryPolicy;
import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.aop.framework.autoproxy.AutoProxyUtils;
import org.springframework.aop.scope.ScopedProxyUtils;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.convert.DurationStyle;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.AnnotationUtils;

/**
 * Finds the handlers and schedules of a context: annotated methods, and beans of {@link TypedHandler}. It collects every
 * problem, and each problem says what to write.
 */
final class HandlerDiscovery {

    /** A type with its handler and what its jobs have by default. */
    record Found<P>(JobType<P> type, JobHandler<P> handler, KnownTypes.Defaults defaults, boolean transactional) {}

    /** A method with its annotations; at least one of them is there. */
    private record Annotated(
            JobMethod method,
            @Nullable RepriseJob job,
            @Nullable RepriseSchedule schedule) {}

    private static final Logger log = LoggerFactory.getLogger("io.reprise.spring");

    private static final List<Class<? extends Annotation>> ANNOTATIONS =
            List.of(RepriseJob.class, RepriseSchedule.class);

    /** Retries in memory that multiply with ours; by name, because the libraries are optional. */
    private static final Set<String> RETRYABLE = Set.of(
            "org.springframework.retry.annotation.Retryable",
            "org.springframework.resilience.annotation.Retryable",
            "io.github.resilience4j.retry.annotation.Retry");

    private final ConfigurableListableBeanFactory beans;
    private final RepriseProperties properties;
    private final List<String> problems;
    private final PolicySettings policies;
    private final Map<String, Found<?>> handlers = new LinkedHashMap<>();
    private final Map<String, String> owners = new LinkedHashMap<>();
    private final List<Schedule> schedules = new ArrayList<>();
    private final Set<String> scheduleNames = new TreeSet<>();

    HandlerDiscovery(ConfigurableListableBeanFactory beans, RepriseProperties properties, List<String> problems) {
        this.beans = beans;
        this.properties = properties;
        this.problems = problems;
        this.policies = new PolicySettings(beans.getBeansOfType(RetryPolicy.class, false, false), problems);
    }

    Map<String, Found<?>> handlers() {
        return handlers;
    }

    List<Schedule> schedules() {
        return schedules;
    }

    void find() {
        for (String bean : beans.getBeanNamesForType(Object.class, true, false)) {
            Class<?> type = ScopedProxyUtils.isScopedTarget(bean) ? null : targetClass(bean);
            if (type != null && AnnotationUtils.isCandidateClass(type, ANNOTATIONS)) {
                methods(bean, type).forEach(this::add);
            }
        }
        beans.getBeansOfType(TypedHandler.class, false, true).forEach((bean, handler) -> addTyped(bean, handler));
        checkNames();
    }

    private @Nullable Class<?> targetClass(String bean) {
        try {
            return AutoProxyUtils.determineTargetClass(beans, bean);
        } catch (RuntimeException e) {
            // A lazy bean whose type is unknown until it is made.
            return null;
        }
    }

    private List<Annotated> methods(String bean, Class<?> type) {
        Map<Method, Annotated> found =
                MethodIntrospector.selectMethods(type, (MethodIntrospector.MetadataLookup<@Nullable Annotated>)
                        method -> {
                            RepriseJob job = AnnotatedElementUtils.findMergedAnnotation(method, RepriseJob.class);
                            RepriseSchedule schedule =
                                    AnnotatedElementUtils.findMergedAnnotation(method, RepriseSchedule.class);
                            return job == null && schedule == null
                                    ? null
                                    : new Annotated(new JobMethod(beans, bean, method), job, schedule);
                        });
        return List.copyOf(found.values());
    }

    private void add(Annotated found) {
        String problem = found.method.problem();
        if (problem != null) {
            problems.add(problem);
            return;
        }
        try {
            String name = typeName(found);
            if (name.isEmpty()) {
                problems.add(found.method + ": name its schedule, as in @RepriseSchedule(name = …)");
                return;
            }
            warnOfRetryable(found.method, name);
            RepriseJob job = found.job;
            JobType<Object> type = JobType.of(name, found.method.payloadType());
            KnownTypes.Defaults defaults = defaults(name, job, found.method.toString());
            put(
                    found.method.toString(),
                    new Found<>(
                            type.retry(defaults.policy()), found.method, defaults, job != null && job.transactional()));
            addSchedule(found, type);
        } catch (IllegalArgumentException e) {
            problems.add(found.method + ": " + e.getMessage());
        }
    }

    private String typeName(Annotated found) {
        if (found.job != null) {
            return text(found.job.value());
        }
        return found.schedule == null ? "" : text(found.schedule.name());
    }

    @SuppressWarnings("unchecked")
    private void addTyped(String bean, TypedHandler<?> handler) {
        JobType<Object> type = (JobType<Object>) handler.type();
        KnownTypes.Defaults defaults = defaults(type.name(), null, "bean '" + bean + "'");
        KnownTypes.Defaults joined = new KnownTypes.Defaults(
                defaults.queue(),
                defaults.resource(),
                defaults.timeout(),
                defaults.policy().orElse(type.policy()));
        put("bean '" + bean + "'", new Found<>(type, (JobHandler<Object>) handler, joined, false));
    }

    private void put(String owner, Found<?> found) {
        String name = found.type().name();
        String other = owners.putIfAbsent(name, owner);
        if (other == null) {
            handlers.put(name, found);
        } else {
            problems.add("Two handlers are there for type '" + name + "': " + other + " and " + owner
                    + ". Give one of them another type, or remove it");
        }
    }

    private KnownTypes.Defaults defaults(String name, @Nullable RepriseJob job, String where) {
        RepriseProperties.Type set = properties.types().get(name);
        RetryPolicy policy =
                set == null ? RetryPolicy.unset() : policies.of("reprise.types." + name + ".retry", set.retry());
        String queue = set == null ? null : set.queue();
        String resource = set == null ? null : set.resource();
        Duration timeout = set == null ? null : set.timeout();
        if (job != null) {
            policy = policy.orElse(policies.named(where, text(job.retry())));
            policy = job.idempotent()
                    ? policy
                    : policy.orElse(RetryPolicy.unset().losses(new LossRule(true, true, 1)));
            queue = queue == null ? given(job.queue()) : queue;
            resource = resource == null ? given(job.resource()) : resource;
            timeout = timeout == null ? duration(job.timeout()) : timeout;
        }
        return new KnownTypes.Defaults(queue, resource, timeout, policy);
    }

    private void addSchedule(Annotated found, JobType<Object> type) {
        RepriseSchedule schedule = found.schedule;
        if (schedule == null) {
            return;
        }
        String name = text(schedule.name()).isEmpty() ? type.name() : text(schedule.name());
        if (!scheduleNames.add(name)) {
            problems.add("Two schedules have the name '" + name + "': name them apart by @RepriseSchedule(name = …)");
        }
        if (found.method.takesPayload()) {
            problems.add(found.method + " has a schedule, which cannot give it a payload: remove the parameter");
            return;
        }
        RepriseProperties.Rule rule = properties.schedules().get(name);
        RepriseProperties.Rule own = rule != null && isRule(rule) ? rule : null;
        String cron = own == null ? given(schedule.cron()) : own.cron();
        if ("-".equals(cron)) {
            return;
        }
        String jitter = given(schedule.jitter());
        try {
            String zone = rule == null || rule.zone() == null ? text(schedule.zone()) : rule.zone();
            schedules.add(new Schedule(
                    name,
                    type.job(JobMethod.NO_PAYLOAD),
                    new Schedule.Timing(
                            cron,
                            own == null ? duration(schedule.every()) : own.every(),
                            own == null ? duration(schedule.fixedDelay()) : own.fixedDelay(),
                            zone(zone),
                            schedule.missed(),
                            schedule.overlap(),
                            new Schedule.Span(
                                    schedule.firstNow(),
                                    instant(schedule.start()),
                                    instant(schedule.end()),
                                    jitter == null ? Duration.ZERO : DurationStyle.detectAndParse(jitter)))));
        } catch (IllegalArgumentException e) {
            String where = rule == null ? found.method.toString() : "reprise.schedules." + name;
            problems.add(where + ": " + e.getMessage());
        }
    }

    private static ZoneId zone(String name) {
        try {
            return ZoneId.of(name);
        } catch (DateTimeException e) {
            throw new IllegalArgumentException("'" + name + "' is no time zone such as Europe/Berlin", e);
        }
    }

    private static boolean isRule(RepriseProperties.Rule rule) {
        return rule.cron() != null || rule.every() != null || rule.fixedDelay() != null;
    }

    private @Nullable Instant instant(String value) {
        String text = given(value);
        try {
            return text == null ? null : Instant.parse(text);
        } catch (DateTimeParseException e) {
            throw new IllegalArgumentException("'" + text + "' is no time such as 2027-01-01T00:00:00Z", e);
        }
    }

    /** Names in properties that mean nothing here are most likely typing errors. */
    private void checkNames() {
        Set<String> types = new TreeSet<>(handlers.keySet());
        beans.getBeansOfType(JobType.class, false, false).values().forEach(type -> {
            if (!types.contains(type.name())
                    && !isElsewhere(type.name())
                    && properties.worker().enabled()) {
                problems.add("No bean handles the JobType bean '" + type.name() + "': annotate a method with"
                        + " @RepriseJob(\"" + type.name() + "\"), or set reprise.types." + type.name()
                        + ".elsewhere=true");
            }
        });
        Set<String> resources = new TreeSet<>(properties.resources().keySet());
        handlers.values().forEach(found -> {
            if (found.defaults().resource() != null) {
                resources.add(found.defaults().resource());
            }
        });
        beans.getBeansOfType(io.reprise.Resource.class, false, false)
                .values()
                .forEach(resource -> resources.add(resource.name()));
        properties.types().forEach((name, set) -> {
            if (!types.contains(name) && !set.elsewhere() && properties.worker().enabled()) {
                problems.add("reprise.types." + name + ": no bean handles this type (there are " + types
                        + "). Correct the name, or set reprise.types." + name + ".elsewhere=true");
            }
            if (set.resource() != null && set.elsewhere() && !resources.contains(set.resource())) {
                problems.add("reprise.types." + name + ".resource=" + set.resource() + ": there is no such resource"
                        + " (there are " + resources + "): write reprise.resources." + set.resource()
                        + ".breaker=true");
            }
        });
        properties.schedules().keySet().stream()
                .filter(name -> !scheduleNames.contains(name))
                .forEach(name -> problems.add("reprise.schedules." + name + ": no method has a @RepriseSchedule of this"
                        + " name (there are " + scheduleNames + "). Correct the name, or remove the property"));
    }

    private boolean isElsewhere(String type) {
        RepriseProperties.Type set = properties.types().get(type);
        return set != null && set.elsewhere();
    }

    private void warnOfRetryable(JobMethod method, String type) {
        for (Annotation annotation : method.method().getAnnotations()) {
            if (RETRYABLE.contains(annotation.annotationType().getName())) {
                log.warn(
                        "{} handles '{}' and is also @{}: the retries in memory multiply those of Reprise and hold the"
                                + " lease meanwhile. Remove one of them (retryable-handler)",
                        method,
                        type,
                        annotation.annotationType().getSimpleName());
            }
        }
    }

    private String text(String value) {
        return Objects.requireNonNullElse(beans.resolveEmbeddedValue(value), "");
    }

    private @Nullable String given(String value) {
        String text = text(value);
        return text.isEmpty() ? null : text;
    }

    private @Nullable Duration duration(String value) {
        String text = given(value);
        return text == null ? null : DurationStyle.detectAndParse(text);
    }
}
