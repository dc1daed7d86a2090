// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.upkeep;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaField;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import io.reprise.internal.engine.Role;
import java.util.Map;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/**
 * A role must not have a number of rows that it does per tick: whatever it is, some fleet is faster. A number that is none of
 * that kind is listed here, with the reason.
 */
class ConstantLimitsTest {

    private static final Map<String, String> ALLOWED = Map.ofEntries(
            Map.entry("Reclaimer.LEASES", "leases in one transaction; the next follows at once while it is full"),
            Map.entry("Reclaimer.EMPTY_LEASES", "leases in one statement; the next follows at once while it is full"),
            Map.entry(
                    "ScheduleFirer.BATCH",
                    "schedules in one transaction; the next page follows at once while it is full"),
            Map.entry("RetentionRole.REST", "a part of the time that a batch took, no number of rows"),
            Map.entry("Committer.MAX_BATCH", "outcomes in one transaction; the next follows at once"),
            Map.entry("Deadlines.NAMED", "jobs that the log names, of those that were done"),
            Map.entry("Fetcher.NEVER", "a time"),
            Map.entry("ControlSync.SHARE", "a part of the time that a step took, no number of rows"),
            Map.entry("ControlSync.CHUNK", "jobs in one statement; the next follows at once while it is full"),
            Map.entry("EventRelay.MAX_EVENTS", "events in one write; the next follows at once while some wait"),
            Map.entry("EventRelay.MAX_CHARS", "characters in one write; the next follows at once while some wait"),
            Map.entry(
                    "EventRelay.MAX_WAITING", "events in memory; beyond it the streams are told that some are missing"),
            Map.entry("EventRelay.RESTS_PER_LOOK", "steps between two looks for listeners, no number of rows"),
            Map.entry("EventRelay.SETTLED_PER_PAGE", "outcomes in one page; as many pages are taken as are needed"),
            Map.entry("EventRelay.MAX_OPEN", "outcomes in memory whose page is open; beyond it the leader fills them"),
            Map.entry("EventRepair.PAGES", "pages in one read; the next follows at once while it is full"),
            Map.entry("EventRepair.NEAR", "pages in one read; all up to the newest are read"),
            Map.entry("EventRepair.MAX_PAGES", "pages of jobs that one enqueue can have stored, twice over"),
            Map.entry("EventRepair.MAX_EVENTS", "events in one page; the next follows at once"),
            Map.entry("EventRepair.AUDITED", "entries of one job; the newest is the one that is looked for"));

    @Test
    void no_role_has_a_constant_number_of_rows_per_step() {
        TreeSet<String> found = new TreeSet<>();
        for (JavaClass role : new ClassFileImporter()
                .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
                .importPackages("io.reprise.internal")) {
            if (role.isAssignableTo(Role.class) || role.isAssignableTo(UpkeepRole.Piece.class)) {
                role.getFields().stream()
                        .filter(ConstantLimitsTest::isNumber)
                        .forEach(field -> found.add(role.getSimpleName() + "." + field.getName()));
            }
        }
        assertThat(found).as("roles are looked at").contains("Reclaimer.LEASES");
        assertThat(found)
                .as("numbers in roles: work in batches until it is done, or say here why this number is right")
                .isSubsetOf(ALLOWED.keySet());
    }

    private static boolean isNumber(JavaField field) {
        return field.getModifiers().contains(JavaModifier.STATIC)
                && (field.getRawType().isEquivalentTo(int.class)
                        || field.getRawType().isEquivalentTo(long.class)
                        || field.getRawType().isEquivalentTo(double.class));
    }
}
