package io.github.kafkashim.tck;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** Each wrong authorizer breaks the rule that it names. */
class WrongAuthorizersTest {
    @TestFactory
    Stream<DynamicTest> isNamedByItsRule() {
        return Stream.of(WrongAuthorizers.class, LaterWrongAuthorizers.class)
                .flatMap(each -> Stream.of(each.getDeclaredClasses()))
                .filter(each -> each.isAnnotationPresent(WrongAuthorizers.Breaks.class))
                .map(each -> DynamicTest.dynamicTest(each.getSimpleName(), () -> {
                    String rule = each.getAnnotation(WrongAuthorizers.Breaks.class).value();
                    List<String> broken = brokenRules(each);
                    System.out.println(each.getSimpleName() + ": " + String.join(", ", broken));
                    assertTrue(broken.contains(rule), () -> "broken rules: " + broken);
                }));
    }

    @Test
    void thereAreTwentyAndFiveLaterOnes() {
        assertEquals(25, isNamedByItsRule().count());
    }

    private static List<String> brokenRules(Class<?> type) {
        Kit kit = new Kit(type, Map.of(), null);
        return Kit.rules().stream()
                .filter(rule -> Report.outcome(kit.play(rule)) == Kit.Outcome.BROKEN)
                .map(Kit.Rule::name)
                .toList();
    }
}
