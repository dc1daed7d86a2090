// SPDX-License-Identifier: Apache-2.0
/**
 * Replays of many dead letters, in the background and paced.
 */
@NullMarked
package io.reprise.server.replay;

import org.jspecify.annotations.NullMarked;
