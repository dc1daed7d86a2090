// SPDX-License-Identifier: Apache-2.0
/**
 * Who may do what: API keys with scopes and tenants, how often they may ask, and who is locked out. Secrets are stored
 * hashed, compared in constant time, shown once, and never logged.
 */
@NullMarked
package io.reprise.server.auth;

import org.jspecify.annotations.NullMarked;
