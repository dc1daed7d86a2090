// SPDX-License-Identifier: Apache-2.0
package io.reprise.spring;

import io.reprise.RepriseBuilder;

/**
 * Changes the builder of the application's Reprise after the properties were applied. Beans of this type are called in
 * their order.
 *
 * @since 0.1.0
 */
@FunctionalInterface
public interface RepriseCustomizer {

    /** Changes the builder. Handlers may be added too; they must not need the Reprise that is being built. */
    void customize(RepriseBuilder builder);
}
