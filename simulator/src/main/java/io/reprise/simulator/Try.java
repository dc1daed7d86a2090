// SPDX-License-Identifier: Apache-2.0
package io.reprise.simulator;
import java.util.*;
final class Try {
    public static void main(String[] args) throws Exception {
        for (String a : args) {
            long t = System.nanoTime();
            Experiment e = switch (a) {
                case "jitter" -> new JitterExperiment();
                case "outage" -> new OutageExperiment(OutageExperiment.Setting.DEFAULT, OutageExperiment.table());
                case "mine" -> new OutageExperiment(OutageExperiment.Setting.DEFAULT, List.of(Candidate.REPRISE));
                case "metastable" -> new MetastableExperiment(List.of(), false);
                case "minemeta" -> new MetastableExperiment(List.of(0.5, 0.8, 0.9), 600, List.of(), false).only("reprise");
                case "shedding" -> new MetastableExperiment(List.of(), true);
                case "herd" -> new HerdExperiment(List.of());
                case "budget" -> new BudgetExperiment(List.of());
                case "poison" -> new PoisonExperiment(List.of());
                case "lease" -> new LeaseExperiment();
                default -> throw new IllegalArgumentException(a);
            };
            Report r = e.run(1);
            r.rows().forEach(System.out::println);
            java.nio.file.Files.writeString(java.nio.file.Path.of("/tmp/" + a + ".svg"), r.plot());
            System.out.println(a + " " + (System.nanoTime() - t) / 1000000 + " ms");
        }
    }
}
