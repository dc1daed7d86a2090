// SPDX-License-Identifier: Apache-2.0
package io.reprise.simulator;

import java.util.function.Consumer;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * A server that processes requests in order, one at a time, and stalls for a while. It also processes requests whose
 * clients have given up, unless it knows the clients' patience.
 */
public final class FifoServer implements SimulatedDownstream {

    private final World world;
    private final RandomGenerator random;
    private final double perSecond;
    private final double stallFrom;
    private final double stallUntil;
    private final double patience;
    private double freeAt;

    /** An infinite patience means that the server does not know it. */
    public FifoServer(World world, double perSecond, double stallFrom, double stallUntil, double patience) {
        this.world = world;
        this.random = world.chance();
        this.perSecond = perSecond;
        this.stallFrom = stallFrom;
        this.stallUntil = stallUntil;
        this.patience = patience;
    }

    @Override
    public void call(Consumer<@Nullable Exception> answer) {
        double begins = Math.max(world.now(), freeAt);
        if (begins >= stallFrom && begins < stallUntil) {
            begins = stallUntil;
        }
        if (begins - world.now() <= patience) {
            freeAt = begins - StrictMath.log1p(-random.nextDouble()) / perSecond;
            world.at(freeAt, () -> answer.accept(null));
        }
    }
}
