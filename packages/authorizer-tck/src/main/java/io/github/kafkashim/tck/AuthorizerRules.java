package io.github.kafkashim.tck;

import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.kafka.server.authorizer.Authorizer;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.DynamicTest;

/** The rules as tests of JUnit 5, for the tests of an authorizer. */
public final class AuthorizerRules {
    private AuthorizerRules() {}

    /**
     * Returns a test for each rule, to be returned by a method with `@TestFactory`. A rule that cannot be tried is
     * a skipped test.
     */
    public static Stream<DynamicTest> of(Class<? extends Authorizer> type, Map<String, String> config) {
        Kit kit = new Kit(type, config, null);
        return Kit.rules().stream().map(rule -> DynamicTest.dynamicTest(rule.name(), () -> {
            List<Kit.CaseResult> cases = kit.play(rule);
            String text = rule.text() + "\n" + String.join("\n", Report.details(rule, cases));
            Assertions.assertNotEquals(Kit.Outcome.BROKEN, Report.outcome(cases), text);
            Assumptions.assumeTrue(Report.outcome(cases) == Kit.Outcome.HELD, text);
        }));
    }
}
