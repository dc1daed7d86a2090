// SPDX-License-Identifier: Apache-2.0
package io.reprise.micrometer;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.reprise.insight.GroupBacklog;
import io.reprise.insight.StartLevel;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Shows the groups with most jobs, and how many jobs of queues and groups started in time. */
final class GroupGauges {

    private final GaugeRows jobs;
    private final GaugeRows inTime;
    private final GaugeRows started;

    GroupGauges(MeterRegistry registry) {
        this.jobs = new GaugeRows(registry, "reprise.group.jobs", "Jobs of the groups with most jobs");
        this.inTime = new GaugeRows(
                registry, "reprise.starts.in.time", "Share of jobs that started in time, in this hour and the last");
        this.started = new GaugeRows(
                registry, "reprise.starts", "Jobs that started for the first time, in this hour and the last");
    }

    void groups(List<GroupBacklog> groups) {
        Map<Tags, Double> counts = new HashMap<>();
        groups.forEach(each -> counts.put(Tags.of("queue", each.queue(), "group", each.group()), (double) each.jobs()));
        jobs.show(counts);
    }

    void starts(List<StartLevel> levels) {
        Map<Tags, Double> shares = new HashMap<>();
        Map<Tags, Double> counts = new HashMap<>();
        for (StartLevel level : levels) {
            Tags tags = Tags.of("queue", level.queue(), "group", level.group() == null ? "" : level.group());
            shares.put(tags, level.inTime());
            counts.put(tags, (double) level.started());
        }
        inTime.show(shares);
        started.show(counts);
    }
}
