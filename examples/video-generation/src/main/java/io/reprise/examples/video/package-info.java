// SPDX-License-Identifier: Apache-2.0
/**
 * A service that generates videos, with the retry mechanism that Conduit documents: its endpoints, its environment
 * variables, its rules. Begin with {@link io.reprise.examples.video.VideoGeneration}.
 */
@NullMarked
package io.reprise.examples.video;

import org.jspecify.annotations.NullMarked;
