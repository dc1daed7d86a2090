// SPDX-License-Identifier: Apache-2.0
package io.reprise.cli.simulate;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Options of simulations that run many worlds, each from a seed. */
final class SeedOptions {

    @Option(names = "--seed", paramLabel = "S", description = "The seed of the first world; 1 unless set.")
    @Nullable
    Long seed;

    @Option(names = "--json", description = "Print JSON.")
    boolean json;

    /** Returns the seed of the first world. */
    long first() {
        return seed == null ? 1 : seed;
    }
}
