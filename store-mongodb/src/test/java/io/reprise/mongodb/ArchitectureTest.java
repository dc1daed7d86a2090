// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.core.importer.Location;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

@AnalyzeClasses(packages = "io.reprise", importOptions = ArchitectureTest.MainCode.class)
class ArchitectureTest {

    @ArchTest
    static final ArchRule a_store_knows_neither_the_server_nor_what_is_built_on_it = noClasses()
            .that()
            .resideInAPackage("io.reprise.mongodb..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(
                    "io.reprise.server..", "io.reprise.examples..", "io.reprise.benchmarks..", "io.reprise.simulator..")
            .allowEmptyShould(true);

    /** ArchUnit's own option does not know the directory of a quick build. */
    static final class MainCode implements ImportOption {

        @Override
        public boolean includes(Location location) {
            return !location.contains("/test-classes/");
        }
    }
}
