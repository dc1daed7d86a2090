// SPDX-License-Identifier: Apache-2.0
/**
 * Jobs and retries as Micrometer meters. {@link io.reprise.micrometer.JobMetrics} is a listener: register it with the
 * builder, and meters appear as jobs run. The number of label values is bounded.
 */
@NullMarked
package io.reprise.micrometer;

import org.jspecify.annotations.NullMarked;
