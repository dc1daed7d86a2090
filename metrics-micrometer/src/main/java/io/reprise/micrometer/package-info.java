// SPDX-License-Identifier: Apache-2.0
/**
 * What jobs and retries do, as Micrometer meters. {@link io.reprise.micrometer.JobMetrics} is a listener: register it
 * with the builder, and meters appear as jobs run. Labels are bounded.
 */
@NullMarked
package io.reprise.micrometer;

import org.jspecify.annotations.NullMarked;
