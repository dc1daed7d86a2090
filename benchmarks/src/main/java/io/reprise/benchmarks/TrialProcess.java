// SPDX-License-Identifier: Apache-2.0
package io.reprise.benchmarks;

import io.reprise.benchmarks.measure.StoreKind;
import io.reprise.benchmarks.report.Figure;
import io.reprise.benchmarks.system.Databases;
import io.reprise.benchmarks.system.QueueSystem;
import io.reprise.benchmarks.system.Systems;
import io.reprise.benchmarks.workload.RunSizes;
import io.reprise.benchmarks.workload.Trial;
import java.util.List;
import tools.jackson.databind.json.JsonMapper;

/** The program of the process that runs one {@link Trial}. */
final class TrialProcess {

    /** Begins the output line with the figures. */
    static final String RESULT = "RESULT ";

    private TrialProcess() {}

    /** Arguments: system, workload, store, place of the databases, whether quick, whether cold. */
    public static void main(String[] args) {
        int code = 0;
        try {
            List<Figure> figures = measure(args);
            System.out.println(RESULT + new JsonMapper().writeValueAsString(figures));
        } catch (Exception e) {
            e.printStackTrace();
            code = 1;
        }
        // Some systems leave threads behind that would keep the process alive.
        System.exit(code);
    }

    private static List<Figure> measure(String[] args) throws Exception {
        QueueSystem system = Systems.get(args[0]);
        RunSizes sizes = RunSizes.of(Boolean.parseBoolean(args[4]), Boolean.parseBoolean(args[5]), system);
        try (Databases databases = new Databases(StoreKind.of(args[2]), args[3])) {
            return Workloads.get(args[1]).measure(new Trial(system, databases, sizes));
        }
    }
}
