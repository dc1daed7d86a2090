// SPDX-License-Identifier: Apache-2.0
/**
 * The statements of jobs and leases that all databases share: insert, claim, settle, requeue, cancel, search, delete.
 */
@NullMarked
package io.reprise.jdbc.jobs;

import org.jspecify.annotations.NullMarked;
