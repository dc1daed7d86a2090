// SPDX-License-Identifier: Apache-2.0
package io.reprise.simulator.recovery;

import io.reprise.simulator.World;
import io.reprise.store.ClaimRequest;
import io.reprise.store.ControlRow;
import io.reprise.store.JobStore;
import io.reprise.store.Unparking;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.function.UnaryOperator;

/** Known bugs of recovery, put between the fleet and its store, so that they need no code of the control plane. */
final class Bugs {

    private static final String BREAKER = "breaker/";
    private static final String BUDGET = "budget/";
    private static final int ALL = 1_000_000;

    private Bugs() {}

    /** How a call goes on. */
    interface Answer {
        Object answer(JobStore sound, Object[] arguments, World world);
    }

    private static RecoveryBug instead(String method, Answer answer) {
        return (sound, world) -> (JobStore) Proxy.newProxyInstance(
                JobStore.class.getClassLoader(), new Class<?>[] {JobStore.class}, (proxy, called, arguments) -> {
                    if (called.getName().equals(method)) {
                        return answer.answer(sound, arguments, world);
                    }
                    return goOn(sound, called, arguments);
                });
    }

    private static Object goOn(JobStore sound, Method method, Object[] arguments) throws Throwable {
        try {
            return method.invoke(sound, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    /** Other requests than those that were made. */
    private static RecoveryBug unparking(UnaryOperator<Unparking> request) {
        return instead("unpark", (sound, arguments, world) -> {
            if (arguments[0] instanceof String name) {
                return sound.unpark(List.of(request.apply(Unparking.backlog(name, (Integer) arguments[1]))))
                        .get(0);
            }
            @SuppressWarnings("unchecked")
            List<Unparking> requests = (List<Unparking>) arguments[0];
            return sound.unpark(requests.stream().map(request).toList());
        });
    }

    private static Unparking with(Unparking request, int max) {
        return new Unparking(request.name(), max, request.since(), request.free());
    }

    /** Not more than so many per second are let go, whatever the rate is. */
    private static RecoveryBug atMost(String prefix, double perSecond, double burst) {
        return (sound, world) -> {
            Map<String, double[]> buckets = new HashMap<>();
            return unparking(request -> {
                        if (!request.name().startsWith(prefix)) {
                            return request;
                        }
                        double[] bucket = buckets.computeIfAbsent(request.name(), key -> new double[] {burst, 0});
                        return with(request, take(bucket, request.max(), perSecond, burst, world));
                    })
                    .store(sound, world);
        };
    }

    private static int take(double[] bucket, int wanted, double perSecond, double burst, World world) {
        bucket[0] = Math.min(burst, bucket[0] + perSecond * (world.now() - bucket[1]));
        bucket[1] = world.now();
        int taken = (int) Math.min(wanted, bucket[0]);
        bucket[0] -= taken;
        return taken;
    }

    /** The rate of a ramp was capped by a base that sank to 5 while the ramp held jobs back: 10 per second. */
    static RecoveryBug rampIsCapped() {
        return atMost(BREAKER, 10, 10);
    }

    /** A budget granted at most 500 retries per tick of half a second. */
    static RecoveryBug grantsAreFew() {
        return atMost(BUDGET, 1_000, 500);
    }

    static RecoveryBug rampNeverGrows() {
        return atMost(BREAKER, 2, 3);
    }

    /** As soon as more than probes are let go, everything is. */
    static RecoveryBug rampFloods() {
        return unparking(
                request -> request.name().startsWith(BREAKER) && request.max() > 3 ? with(request, ALL) : request);
    }

    static RecoveryBug oneResourceIsForgotten() {
        return unparking(request -> request.name().equals(BREAKER + "r-0") ? with(request, 0) : request);
    }

    /** The backlog goes first, as long as there is any. */
    static RecoveryBug freshJobsStandBehind() {
        return unparking(request -> request.since() == null ? request : with(request, 0));
    }

    /** Nothing is claimed while a breaker holds anything back. */
    static RecoveryBug troubleStopsAll() {
        return instead(
                "claim",
                (sound, arguments, world) -> sound.parkedBy().stream().anyMatch(name -> name.startsWith(BREAKER))
                        ? List.of()
                        : sound.claim((ClaimRequest) arguments[0]));
    }

    /** No breaker is ever seen by anybody. */
    static RecoveryBug breakersAreForgotten() {
        return instead(
                "putControls",
                (sound, arguments, world) -> ((List<?>) arguments[0])
                        .stream()
                                .map(ControlRow.class::cast)
                                .map(row -> row.name().startsWith(BREAKER) ? OptionalLong.of(1) : sound.putControl(row))
                                .toList());
    }

    /** Whatever waits for a budget is let go at once. */
    static RecoveryBug budgetsAreIgnored() {
        return instead("parkedBy", (sound, arguments, world) -> {
            sound.parkedBy().stream().filter(name -> name.startsWith(BUDGET)).forEach(name -> sound.unpark(name, ALL));
            return sound.parkedBy();
        });
    }
}
