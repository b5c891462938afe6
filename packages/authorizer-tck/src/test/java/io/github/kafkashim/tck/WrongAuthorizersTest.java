package io.github.kafkashim.tck;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
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
    void allWrongAuthorizersAreFound() {
        assertEquals(31, isNamedByItsRule().count());
    }

    @Test
    void onlyTheFirstAnswerThatNeverComesIsAwaitedForLong() {
        Kit kit = new Kit(LaterWrongAuthorizers.NeverDeletes.class, Map.of(), null);
        Kit.Rule rule = Kit.rules().stream().filter(each -> each.name().equals("acl-results")).findFirst().orElseThrow();
        List<String> texts = kit.play(rule).stream().map(Kit.CaseResult::text).filter(Objects::nonNull).toList();
        assertEquals("no answer within 30 s", texts.get(0));
        assertEquals(Set.of("no answer within 2 s"), Set.copyOf(texts.subList(1, texts.size())));
    }

    private static List<String> brokenRules(Class<?> type) {
        Kit kit = new Kit(type, Map.of(), null);
        return Kit.rules().stream()
                .filter(rule -> Report.outcome(kit.play(rule)) == Kit.Outcome.BROKEN)
                .map(Kit.Rule::name)
                .toList();
    }
}
