// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.GeneralCodingRules.ACCESS_STANDARD_STREAMS;
import static com.tngtech.archunit.library.GeneralCodingRules.THROW_GENERIC_EXCEPTIONS;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.AccessTarget;
import com.tngtech.archunit.core.domain.AccessTarget.CodeUnitAccessTarget;
import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaCodeUnit;
import com.tngtech.archunit.core.domain.JavaField;
import com.tngtech.archunit.core.domain.JavaMember;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.domain.JavaType;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.core.importer.Location;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.NullMarked;

/** What depends on what, and what the pure parts do not do. */
@AnalyzeClasses(packages = "io.reprise", importOptions = ArchitectureTest.MainCode.class)
class ArchitectureTest {

    private static final String[] API = {
        "io.reprise",
        "io.reprise.batch..",
        "io.reprise.control..",
        "io.reprise.encryption..",
        "io.reprise.failure..",
        "io.reprise.fairness..",
        "io.reprise.insight..",
        "io.reprise.job..",
        "io.reprise.remote..",
        "io.reprise.retry..",
        "io.reprise.settings..",
        "io.reprise.step..",
        "io.reprise.store..",
        "io.reprise.testing.."
    };
    /** Packages outside of the engine that are not exported. */
    private static final Set<String> HIDDEN = Set.of("io.reprise.events", "io.reprise.text");

    private static final String TEXT = "io.reprise.text..";
    private static final String FAILURE = "io.reprise.failure..";
    private static final String RETRY = "io.reprise.retry..";
    private static final String CONTROL = "io.reprise.control..";
    private static final String INTERNAL = "io.reprise.internal..";
    private static final String[] PURE = {
        RETRY,
        FAILURE,
        CONTROL,
        TEXT,
        "io.reprise.batch..",
        "io.reprise.events..",
        "io.reprise.fairness..",
        "io.reprise.insight..",
        "io.reprise.job..",
        "io.reprise.remote..",
        "io.reprise.settings..",
        "io.reprise.step..",
        "io.reprise.store.."
    };

    /** The states of retry control, which the engine keeps and the store holds as text. */
    private static final Set<String> STATES =
            Set.of("Breaker", "CallCounts", "CallWindow", "NextRamp", "Ramp", "RateView", "RetryBudget", "StateText");

    /** Telling a handler to stop, and looking where it is stuck, is no way to wait. */
    private static final Set<String> INTERRUPTION =
            Set.of("currentThread", "interrupt", "interrupted", "getStackTrace");

    /** Where the engine meets the real clock, real threads and real chance. */
    private static final Set<String> SEAMS =
            Set.of("ThreadDriver", "UserCalls", "PooledHandlerExecutor", "WorkerNames");

    @ArchTest
    static final ArchRule core_needs_only_the_jdk_and_three_small_libraries = classes()
            .should()
            .onlyDependOnClassesThat()
            .resideInAnyPackage(
                    "io.reprise..", "java..", "javax.crypto..", "org.slf4j..", "org.jspecify..", "com.cronutils..")
            .allowEmptyShould(true);

    @ArchTest
    static final ArchRule core_knows_no_sql = noClasses()
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("java.sql..", "javax.sql..")
            .allowEmptyShould(true);

    @ArchTest
    static final ArchRule failures_are_read_without_a_policy = classes()
            .that()
            .resideInAPackage(FAILURE)
            .should()
            .onlyDependOnClassesThat()
            .resideInAnyPackage(pureAnd(FAILURE, TEXT))
            .allowEmptyShould(true);

    @ArchTest
    static final ArchRule retry_is_arithmetic_and_stands_alone = classes()
            .that()
            .resideInAPackage(RETRY)
            .should()
            .onlyDependOnClassesThat()
            .resideInAnyPackage(pureAnd(RETRY, FAILURE, TEXT))
            .allowEmptyShould(true);

    @ArchTest
    static final ArchRule control_is_arithmetic_and_knows_only_retry = classes()
            .that()
            .resideInAPackage(CONTROL)
            .or(describe("are states of control", ArchitectureTest::isState))
            .should()
            .onlyDependOnClassesThat(resideInAnyPackage(pureAnd(CONTROL, RETRY, FAILURE, TEXT))
                    .or(describe("are states of control", ArchitectureTest::isState)))
            .allowEmptyShould(true);

    @ArchTest
    static final ArchRule pure_packages_take_time_and_chance_as_arguments = noClasses()
            .that()
            .resideInAnyPackage(PURE)
            .or(describe("are states of control", ArchitectureTest::isState))
            .should()
            .accessTargetWhere(readsAClockRollsDiceOrTouchesAThread())
            .allowEmptyShould(true);

    @ArchTest
    static final ArchRule the_engine_takes_time_chance_and_threads_from_its_seams = noClasses()
            .that()
            .resideInAPackage(INTERNAL)
            .and(describe(
                    "are not a seam", type -> !SEAMS.contains(outermost(type).getSimpleName())))
            .should()
            .accessTargetWhere(readsAClockRollsDiceOrTouchesAThread())
            .allowEmptyShould(true);

    @ArchTest
    static final ArchRule the_api_does_not_mention_internal = classes()
            .that()
            .resideInAnyPackage(API)
            .and(describe("are public", ArchitectureTest::isVisible))
            .should(haveSignaturesWithoutInternalTypes())
            .allowEmptyShould(true);

    @ArchTest
    static final ArchRule a_user_needs_nothing_of_the_interface_for_stores = classes()
            .that()
            .resideInAPackage("io.reprise")
            .and(describe("are public", ArchitectureTest::isVisible))
            .should(haveSignaturesWithoutTypesOfStores());

    @ArchTest
    static final ArchRule packages_do_not_depend_on_each_other_in_circles =
            slices().assignedFrom(new Rooms()).should().beFreeOfCycles();

    /** Each package is a slice. The engine and the classes that users call on it are one, as they create each other. */
    private static final class Rooms implements SliceAssignment {

        @Override
        public SliceIdentifier getIdentifierOf(JavaClass type) {
            String name = type.getPackageName();
            return SliceIdentifier.of(name.startsWith("io.reprise.internal") ? "io.reprise" : name);
        }

        @Override
        public String getDescription() {
            return "packages";
        }
    }

    @ArchTest
    static final ArchRule every_package_is_null_marked =
            classes().should(resideInANullMarkedPackage()).allowEmptyShould(true);

    @ArchTest
    static final ArchRule core_logs_instead_of_printing =
            noClasses().should(ACCESS_STANDARD_STREAMS).allowEmptyShould(true);

    @ArchTest
    static final ArchRule an_exception_has_a_name =
            noClasses().should(THROW_GENERIC_EXCEPTIONS).allowEmptyShould(true);

    private static boolean isState(JavaClass type) {
        return type.getPackageName().equals("io.reprise.internal.control")
                && STATES.contains(outermost(type).getSimpleName());
    }

    private static String[] pureAnd(String... ours) {
        Stream<String> pure = Stream.of(
                "java.lang",
                "java.lang.annotation",
                "java.lang.constant",
                "java.lang.invoke",
                "java.lang.runtime",
                "java.math",
                "java.nio.charset",
                "java.security",
                "java.time..",
                "java.util",
                "java.util.function",
                "java.util.random",
                "java.util.regex",
                "java.util.stream",
                "org.jspecify..");
        return Stream.concat(pure, Stream.of(ours)).toArray(String[]::new);
    }

    /** Method references count: {@code Instant::now} is as impure as the call. */
    private static DescribedPredicate<JavaAccess<?>> readsAClockRollsDiceOrTouchesAThread() {
        return describe("reads a clock, rolls dice or touches a thread", access -> isImpure(access.getTarget()));
    }

    private static boolean isImpure(AccessTarget target) {
        if (!(target instanceof CodeUnitAccessTarget unit)) {
            return false;
        }
        String owner = unit.getOwner().getName();
        String name = unit.getName();
        boolean noArguments = unit.getRawParameterTypes().isEmpty();
        boolean constructor = name.equals("<init>");
        return switch (owner) {
            case "java.time.Clock", "java.util.concurrent.ThreadLocalRandom", "java.security.SecureRandom" -> true;
            case "java.time.InstantSource" -> name.equals("system") || name.equals("tick");
            case "java.lang.System" -> name.equals("currentTimeMillis") || name.equals("nanoTime");
            case "java.lang.Math", "java.lang.StrictMath" -> name.equals("random");
            case "java.util.UUID" -> name.equals("randomUUID");
            case "java.util.Random", "java.util.SplittableRandom" -> constructor && noArguments;
            case "java.util.random.RandomGenerator" -> name.equals("of") || name.equals("getDefault");
            case "java.util.random.RandomGeneratorFactory" -> name.equals("create") && noArguments;
            case "java.util.concurrent.TimeUnit" -> name.equals("sleep");
            case "java.util.concurrent.locks.LockSupport" -> name.startsWith("park");
            default ->
                (unit.getOwner().isAssignableTo(Thread.class) && !INTERRUPTION.contains(name))
                        || (owner.startsWith("java.time.") && name.equals("now"));
        };
    }

    private static ArchCondition<JavaClass> haveSignaturesWithoutInternalTypes() {
        return haveSignaturesWithout(
                "internal types",
                each -> each.getPackageName().startsWith("io.reprise.internal")
                        || HIDDEN.contains(each.getPackageName()));
    }

    /** A user names a store and nothing else of that package. */
    private static ArchCondition<JavaClass> haveSignaturesWithoutTypesOfStores() {
        return haveSignaturesWithout(
                "types of stores",
                each -> each.getPackageName().equals("io.reprise.store")
                        && !each.getSimpleName().equals("JobStore"));
    }

    private static ArchCondition<JavaClass> haveSignaturesWithout(String what, Predicate<JavaClass> refused) {
        return new ArchCondition<>("have signatures without " + what) {
            @Override
            public void check(JavaClass type, ConditionEvents events) {
                Stream<JavaType> parents = Stream.concat(type.getSuperclass().stream(), type.getInterfaces().stream());
                report(type, type.getFullName(), parents, refused, events);
                type.getMembers().stream()
                        .filter(ArchitectureTest::isVisible)
                        .forEach(member -> report(type, member.getFullName(), typesIn(member), refused, events));
            }
        };
    }

    private static void report(
            JavaClass type,
            String where,
            Stream<JavaType> mentioned,
            Predicate<JavaClass> refused,
            ConditionEvents events) {
        mentioned
                .flatMap(each -> each.getAllInvolvedRawTypes().stream())
                .filter(refused)
                .distinct()
                .forEach(
                        each -> events.add(SimpleConditionEvent.violated(type, where + " mentions " + each.getName())));
    }

    private static Stream<JavaType> typesIn(JavaMember member) {
        if (member instanceof JavaField field) {
            return Stream.of(field.getType());
        }
        JavaCodeUnit unit = (JavaCodeUnit) member;
        Stream<JavaType> thrown = unit.getThrowsClause().getTypes().stream().map(each -> (JavaType) each);
        return Stream.of(Stream.of(unit.getReturnType()), unit.getParameterTypes().stream(), thrown)
                .flatMap(each -> each);
    }

    private static ArchCondition<JavaClass> resideInANullMarkedPackage() {
        return new ArchCondition<>("reside in a package marked @NullMarked") {
            @Override
            public void check(JavaClass type, ConditionEvents events) {
                if (!type.getPackage().isAnnotatedWith(NullMarked.class)) {
                    events.add(SimpleConditionEvent.violated(
                            type, type.getName() + " is in " + type.getPackageName() + ", which is not @NullMarked"));
                }
            }
        };
    }

    private static boolean isVisible(JavaClass type) {
        return type.getModifiers().contains(JavaModifier.PUBLIC)
                && type.getEnclosingClass().map(ArchitectureTest::isVisible).orElse(true);
    }

    private static boolean isVisible(JavaMember member) {
        return member.getModifiers().contains(JavaModifier.PUBLIC)
                || member.getModifiers().contains(JavaModifier.PROTECTED);
    }

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
