// SPDX-License-Identifier: Apache-2.0
/**
 * Webhooks: who wants to hear what becomes of jobs, and the deliveries that tell them. A delivery is a job like any other,
 * stored in the same step as the outcome it tells of; what it says is read, when it is sent, from what was stored then.
 */
@NullMarked
package io.reprise.server.webhook;

import org.jspecify.annotations.NullMarked;
