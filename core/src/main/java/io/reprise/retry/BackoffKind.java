// SPDX-License-Identifier: Apache-2.0
package io.reprise.retry;

/** Which curve a policy uses. Kept apart from its numbers so that layers can set the one without the other. */
enum BackoffKind {
    EXPONENTIAL,
    LINEAR,
    FIXED,
    TABLE
}
