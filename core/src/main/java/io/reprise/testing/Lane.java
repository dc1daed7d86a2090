// SPDX-License-Identifier: Apache-2.0
package io.reprise.testing;

/** The group in which a waiting job competes within its queue. */
enum Lane {
    FRESH,
    RETRY,
    SUSPECT
}
