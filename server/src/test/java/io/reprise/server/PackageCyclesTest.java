// SPDX-License-Identifier: Apache-2.0
package io.reprise.server;

import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.core.importer.Location;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

/** The packages of the program and of the modules that it uses. The core has its own rule. */
@AnalyzeClasses(
        packages = {
            "io.reprise.server",
            "io.reprise.cli",
            "io.reprise.jdbc",
            "io.reprise.mongodb",
            "io.reprise.micrometer",
            "io.reprise.simulator",
            "io.reprise.testkit"
        },
        importOptions = PackageCyclesTest.MainCode.class)
class PackageCyclesTest {

    @ArchTest
    static final ArchRule packages_do_not_depend_on_each_other_in_circles =
            slices().matching("io.reprise.(**)").should().beFreeOfCycles();

    /** ArchUnit's own option does not know the directory of a quick build. */
    static final class MainCode implements ImportOption {

        @Override
        public boolean includes(Location location) {
            return !location.contains("/test-classes/");
        }
    }
}
