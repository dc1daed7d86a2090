// SPDX-License-Identifier: Apache-2.0
/**
 * Traces of jobs with OpenTelemetry. Each attempt is a trace of its own that links to the enqueue and to the attempt
 * before it: a job may be retried for days, and a span must end.
 */
@NullMarked
package io.reprise.opentelemetry;

import org.jspecify.annotations.NullMarked;
