// SPDX-License-Identifier: Apache-2.0
/**
 * Authentication and limits: API keys with scopes and tenants, request rates, quotas and lockouts. Secrets are stored
 * hashed, compared in constant time, shown once, and never logged.
 */
@NullMarked
package io.reprise.server.auth;

import org.jspecify.annotations.NullMarked;
