// SPDX-License-Identifier: Apache-2.0
/**
 * The statements of everything beside jobs: queues, control, insight, documents, audit, alerts, roles, workers.
 */
@NullMarked
package io.reprise.jdbc.rows;

import org.jspecify.annotations.NullMarked;
