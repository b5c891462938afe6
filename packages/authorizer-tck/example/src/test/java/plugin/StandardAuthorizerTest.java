package plugin;

import io.github.kafkashim.tck.AuthorizerRules;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.kafka.metadata.authorizer.StandardAuthorizer;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** All rules hold for Kafka's own class. */
class StandardAuthorizerTest {
    @TestFactory
    Stream<DynamicTest> rules() {
        return AuthorizerRules.of(StandardAuthorizer.class, Map.of());
    }
}
