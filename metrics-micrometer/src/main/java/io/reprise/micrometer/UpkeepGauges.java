// SPDX-License-Identifier: Apache-2.0
package io.reprise.micrometer;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.reprise.insight.Behind;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Shows how far each piece of upkeep is behind. */
final class UpkeepGauges {

    private final GaugeRows rows;
    private final GaugeRows seconds;

    UpkeepGauges(MeterRegistry registry) {
        this.rows = new GaugeRows(
                registry, "reprise.upkeep.behind", "Rows that wait for a piece of upkeep; 10,000 are counted at most");
        this.seconds =
                new GaugeRows(registry, "reprise.upkeep.behind.seconds", "For how long the first of them has waited");
    }

    void show(List<Behind> pieces) {
        Map<Tags, Double> waiting = new HashMap<>();
        Map<Tags, Double> late = new HashMap<>();
        for (Behind piece : pieces) {
            Tags tags = Tags.of("piece", piece.piece());
            waiting.put(tags, (double) piece.rows());
            late.put(tags, piece.by().toMillis() / 1e3);
        }
        rows.show(waiting);
        seconds.show(late);
    }
}
