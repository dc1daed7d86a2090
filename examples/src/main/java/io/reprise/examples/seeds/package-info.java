// SPDX-License-Identifier: Apache-2.0
/**
 * How users of four other queues would use this one: OmniQ, Stent, weave-queue and a MongoDB micro-queue, each with its own
 * preset. Each example tells what happens and returns what a test looks at. Conduit has a directory of its own,
 * {@code examples/video-generation}.
 */
@NullMarked
package io.reprise.examples.seeds;

import org.jspecify.annotations.NullMarked;
