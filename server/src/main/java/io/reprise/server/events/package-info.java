// SPDX-License-Identifier: Apache-2.0
/**
 * The stream of events: those of this process at once, those of other processes from pages that they write to the store
 * while somebody listens. Events of one job are told in their order, and a stream that misses some is told so.
 */
@NullMarked
package io.reprise.server.events;

import org.jspecify.annotations.NullMarked;
