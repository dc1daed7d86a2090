// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import io.reprise.store.JobStore;
import io.reprise.store.StoreException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.HashMap;
import java.util.Map;

/** A store whose calls can be made to fail, before or after they took effect. */
public final class FaultyStore {

    private final Map<String, Integer> failBefore = new HashMap<>();
    private final Map<String, Integer> failAfter = new HashMap<>();

    public void failBefore(String method, int times) {
        failBefore.put(method, times);
    }

    /** The database did it, but the answer was lost. */
    public void failAfter(String method, int times) {
        failAfter.put(method, times);
    }

    public JobStore wrap(JobStore store) {
        return (JobStore) Proxy.newProxyInstance(
                JobStore.class.getClassLoader(), new Class<?>[] {JobStore.class}, (proxy, method, args) -> {
                    trip(failBefore, method.getName());
                    try {
                        Object answer = method.invoke(store, args);
                        trip(failAfter, method.getName());
                        return answer;
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    private static void trip(Map<String, Integer> faults, String method) {
        int left = faults.getOrDefault(method, 0);
        if (left > 0) {
            faults.put(method, left - 1);
            throw new StoreException("the database is away", new IllegalStateException("injected"));
        }
    }
}
