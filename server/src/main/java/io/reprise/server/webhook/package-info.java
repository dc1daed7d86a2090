// SPDX-License-Identifier: Apache-2.0
/**
 * Webhooks: subscriptions to the steps of jobs, and their deliveries. A delivery is a job like any other, stored in the
 * transaction of the outcome that it reports. When it is sent, its content is read from the values stored then.
 */
@NullMarked
package io.reprise.server.webhook;

import org.jspecify.annotations.NullMarked;
