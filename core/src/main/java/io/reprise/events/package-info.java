// SPDX-License-Identifier: Apache-2.0
/**
 * The events of the whole fleet as pages in the store: the engine writes them, the server reads them. Not exported.
 */
@NullMarked
package io.reprise.events;

import org.jspecify.annotations.NullMarked;
