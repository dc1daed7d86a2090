// SPDX-License-Identifier: Apache-2.0
/**
 * Settings of the whole fleet that change at run time. They are kept in the store, and every worker follows them.
 *
 * <p>Invariant: settings are data. They are equal to themselves after JSON and a database.
 */
@NullMarked
package io.reprise.settings;

import org.jspecify.annotations.NullMarked;
