// SPDX-License-Identifier: Apache-2.0
package io.reprise.testing;

/** What a waiting job competes with in its queue. */
enum Lane {
    FRESH,
    RETRY,
    SUSPECT
}
