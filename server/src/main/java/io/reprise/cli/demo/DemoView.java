// SPDX-License-Identifier: Apache-2.0
package io.reprise.cli.demo;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Shows a demo while it runs. One thread uses it. */
interface DemoView extends AutoCloseable {

    /**
     * The demo at one moment.
     *
     * @param length how long it runs; null means without end
     * @param lines every job
     * @param rows the events since the last moment
     */
    record Moment(Duration elapsed, @Nullable Duration length, Collection<Scoreboard.Line> lines, List<DemoRow> rows) {}

    void show(Moment moment);

    /** Restores the terminal. */
    @Override
    void close();
}
