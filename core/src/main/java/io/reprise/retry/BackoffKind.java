// SPDX-License-Identifier: Apache-2.0
package io.reprise.retry;

/**
 * The curve that a policy uses. The kind is kept apart from its numbers, so that a layer can set one without the other.
 */
enum BackoffKind {
    EXPONENTIAL,
    LINEAR,
    FIXED,
    TABLE
}
