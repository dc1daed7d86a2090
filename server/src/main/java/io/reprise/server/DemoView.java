// SPDX-License-Identifier: Apache-2.0
package io.reprise.server;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** How a demo is shown while it runs. Used by one thread. */
interface DemoView extends AutoCloseable {

    /**
     * The demo at one moment.
     *
     * @param length how long it will run; null without end
     * @param lines every job
     * @param rows what happened since the last moment
     */
    record Moment(Duration elapsed, @Nullable Duration length, Collection<Scoreboard.Line> lines, List<DemoRow> rows) {}

    void show(Moment moment);

    /** Leaves the terminal as it was. */
    @Override
    void close();
}
