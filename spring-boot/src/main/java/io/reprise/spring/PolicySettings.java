// SPDX-License-Identifier: Apache-2.0
package io.reprise.spring;

import io.reprise.retry.Presets;
import io.reprise.retry.RetryPolicy;
import java.util.List;
import java.util.Map;

/** Makes retry policies from properties and from the names in annotations. A wrong value becomes a problem. */
final class PolicySettings {

    private final Map<String, RetryPolicy> beans;
    private final List<String> problems;

    /**
     * Creates an object that collects problems.
     *
     * @param beans policies of the context, by name
     * @param problems receives one sentence for each wrong value
     */
    PolicySettings(Map<String, RetryPolicy> beans, List<String> problems) {
        this.beans = beans;
        this.problems = problems;
    }

    /**
     * Returns the policy that properties describe; unset fields stay unset.
     *
     * @param prefix name of the properties, without the last part
     */
    RetryPolicy of(String prefix, RepriseProperties.Retry retry) {
        try {
            RetryPolicy policy = retry.preset() == null ? RetryPolicy.unset() : preset(prefix, retry.preset());
            if (retry.base() != null) {
                policy = policy.base(retry.base());
            }
            if (retry.factor() != null) {
                policy = policy.factor(retry.factor());
            }
            if (retry.cap() != null) {
                policy = policy.cap(retry.cap());
            }
            if (retry.maxAttempts() != null) {
                policy = policy.maxAttempts(retry.maxAttempts());
            }
            return retry.deadline() == null ? policy : policy.deadline(retry.deadline());
        } catch (IllegalArgumentException e) {
            problems.add(prefix + ": " + e.getMessage());
            return RetryPolicy.unset();
        }
    }

    private RetryPolicy preset(String prefix, String name) {
        try {
            return Presets.get(name);
        } catch (IllegalArgumentException e) {
            problems.add(prefix + ".preset=" + name + ": " + e.getMessage());
            return RetryPolicy.unset();
        }
    }

    /**
     * Returns the policy that an annotation names.
     *
     * @param where the annotated method, in words
     */
    RetryPolicy named(String where, String name) {
        RetryPolicy bean = beans.get(name);
        if (bean != null || name.isEmpty()) {
            return bean == null ? RetryPolicy.unset() : bean;
        }
        if (!Presets.names().contains(name)) {
            problems.add(where + ": retry = \"" + name + "\" is neither a RetryPolicy bean (there are "
                    + beans.keySet() + ") nor a preset (there are " + Presets.names()
                    + "): write one of these names");
            return RetryPolicy.unset();
        }
        return Presets.get(name);
    }
}
