// SPDX-License-Identifier: Apache-2.0
package io.reprise.server;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.core.importer.Location;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

@AnalyzeClasses(packages = "io.reprise", importOptions = ArchitectureTest.MainCode.class)
class ArchitectureTest {

    @ArchTest
    static final ArchRule only_one_class_opens_a_store = noClasses()
            .that()
            .resideInAnyPackage("io.reprise.server..", "io.reprise.cli..")
            .and(describe("are not Stores", type -> !outermost(type).getName().equals("io.reprise.cli.base.Stores")))
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("io.reprise.jdbc..", "io.reprise.mongodb..")
            .allowEmptyShould(true);

    @ArchTest
    static final ArchRule nothing_depends_on_the_examples_or_the_benchmarks = noClasses()
            .that()
            .resideOutsideOfPackages("io.reprise.examples..", "io.reprise.benchmarks..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("io.reprise.examples..", "io.reprise.benchmarks..")
            .allowEmptyShould(true);

    @ArchTest
    static final ArchRule only_the_simulator_uses_what_is_internal_to_the_core = noClasses()
            .that()
            .resideOutsideOfPackages(
                    "io.reprise", "io.reprise.testing..", "io.reprise.internal..", "io.reprise.simulator..")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("io.reprise.internal..");

    @ArchTest
    static final ArchRule only_the_program_depends_on_the_simulator = noClasses()
            .that()
            .resideOutsideOfPackages("io.reprise.cli..", "io.reprise.simulator..")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("io.reprise.simulator..");

    private static JavaClass outermost(JavaClass type) {
        return type.getEnclosingClass().map(ArchitectureTest::outermost).orElse(type);
    }

    /** ArchUnit's own option does not know the directory of a quick build. */
    static final class MainCode implements ImportOption {

        @Override
        public boolean includes(Location location) {
            return !location.contains("/test-classes/");
        }
    }
}
