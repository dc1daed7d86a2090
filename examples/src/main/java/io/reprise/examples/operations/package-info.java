// SPDX-License-Identifier: Apache-2.0
/**
 * Examples of running jobs in production: alerts, dead letters, bulk operations, schedules.
 */
@NullMarked
package io.reprise.examples.operations;

import org.jspecify.annotations.NullMarked;
