// SPDX-License-Identifier: Apache-2.0
/**
 * The HTTP API: jobs, dead letters, queues, resources, schedules, policies, leases, events and insight. Each part is an
 * {@link io.reprise.server.http.Endpoints} in the words of the core. Every name that a tenant's key sends or sees
 * passes through {@link io.reprise.server.auth.Tenancy}.
 */
@NullMarked
package io.reprise.server.api;

import org.jspecify.annotations.NullMarked;
