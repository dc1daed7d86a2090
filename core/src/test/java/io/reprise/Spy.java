// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import io.reprise.store.JobStore;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.List;

/** Notes which methods of a store are called. */
final class Spy {

    private Spy() {}

    static JobStore on(JobStore store, List<String> calls) {
        return (JobStore) Proxy.newProxyInstance(
                JobStore.class.getClassLoader(), new Class<?>[] {JobStore.class}, (proxy, method, args) -> {
                    calls.add(method.getName());
                    try {
                        return method.invoke(store, args);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }
}
