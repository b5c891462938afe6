package io.github.kafkashim;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.common.config.ConfigResource;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;
import org.junit.platform.launcher.listeners.TestExecutionSummary;

/** Brokers begin and end with their tests, whatever else runs at the same time. */
class LifecycleTest {
    private static final Set<String> SERVERS = ConcurrentHashMap.newKeySet();

    /** Classes that inherit one extension. */
    abstract static class Base {
        @RegisterExtension
        static final KafkaShimExtension KAFKA = new KafkaShimExtension(new BrokerSettings().topic("orders", 1));

        @Test
        void theBrokerRunsAsLongAsItsClass() throws InterruptedException {
            SERVERS.add(KAFKA.broker().getBootstrapServers());
            for (int round = 0; round < 20; round++) {
                KAFKA.broker().endOffsets("orders");
                Thread.sleep(20);
            }
        }
    }

    static class First extends Base {
        @Test
        void endsEarlier() {
            KAFKA.broker().endOffsets("orders");
        }
    }

    static class Second extends Base {}

    static class Third extends Base {}

    @KafkaShim
    static class TooEarly {
        @BeforeAll
        static void begin(KafkaShimBroker broker) {}

        @Test
        void isNotRun() {}
    }

    /** Lets the broker deny alice a description. */
    private static void deny(KafkaShimBroker broker, String topic) {
        broker.createTopic(topic, 1);
        broker.addUser("alice", "secret");
        try (var admin = Admin.create(broker.clientConfig("alice"))) {
            var resource = new ConfigResource(ConfigResource.Type.TOPIC, topic);
            assertThrows(ExecutionException.class, () -> admin.describeConfigs(Set.of(resource)).all().get());
        }
    }

    @KafkaShim(perClass = true)
    @TestMethodOrder(MethodOrderer.MethodName.class)
    static class Failing {
        @RegisterExtension
        final KafkaShimExtension own = new KafkaShimExtension(new BrokerSettings());

        @Test
        void aPasses(KafkaShimBroker shared) {
            deny(shared, "quiet");
        }

        @Test
        void bFails(KafkaShimBroker shared) {
            deny(shared, "shared");
            deny(own.broker(), "own");
            throw new AssertionError();
        }
    }

    @Test
    void aFailedTestPrintsItsDenials() {
        var bytes = new ByteArrayOutputStream();
        PrintStream before = System.err;
        System.setErr(new PrintStream(bytes, true, StandardCharsets.UTF_8));
        try {
            run(Failing.class);
        } finally {
            System.setErr(before);
        }
        String printed = bytes.toString(StandardCharsets.UTF_8);
        assertTrue(printed.contains("User:alice was denied DESCRIBE_CONFIGS on TOPIC shared"), printed);
        assertTrue(printed.contains("User:alice was denied DESCRIBE_CONFIGS on TOPIC own"), printed);
        assertFalse(printed.contains("TOPIC quiet"), printed);
    }

    @Test
    void denialsAreAsserted() {
        try (var broker = KafkaShimBroker.start(new BrokerSettings())) {
            deny(broker, "or.ders");
            broker.assertDenied("alice", "DescribeConfigs", "topic:or.ders");
            broker.assertDenied("User:alice", "DescribeConfigs", "topic:or.ders");
            var error = assertThrows(AssertionError.class, () -> broker.assertDenied("bob", "Write", "topic:or.ders"));
            assertTrue(error.getMessage().startsWith("User:bob was not denied WRITE on TOPIC or.ders;"));
            assertTrue(error.getMessage().contains("User:alice was denied DESCRIBE_CONFIGS"), error.getMessage());
            assertEquals(1, broker.denials().size());
            var unknown = assertThrows(IllegalArgumentException.class, () -> broker.endOffsets("ordres"));
            assertEquals("unknown topic ordres", unknown.getMessage());
        }
    }

    private static TestExecutionSummary run(Class<?>... classes) {
        LauncherDiscoveryRequest request = LauncherDiscoveryRequestBuilder.request()
                .selectors(Stream.of(classes).map(each -> selectClass(each)).toList())
                .configurationParameter("junit.jupiter.execution.parallel.mode.classes.default", "concurrent")
                .build();
        var listener = new SummaryGeneratingListener();
        LauncherFactory.create().execute(request, listener);
        return listener.getSummary();
    }

    @Test
    void classesThatInheritAnExtensionHaveBrokersOfTheirOwn() {
        TestExecutionSummary summary = run(First.class, Second.class, Third.class);
        assertEquals(4, summary.getTestsSucceededCount());
        assertEquals(0, summary.getTotalFailureCount());
        assertEquals(3, SERVERS.size());
    }

    @Test
    void aBrokerForBeforeAllNeedsPerClass() {
        TestExecutionSummary summary = run(TooEarly.class);
        assertEquals(1, summary.getTotalFailureCount());
        String message = summary.getFailures().get(0).getException().getMessage();
        assertTrue(message.contains("@KafkaShim(perClass = true)"), message);
    }

    @Test
    void closingTwiceIsHarmless() {
        KafkaShimBroker broker = KafkaShimBroker.start(new BrokerSettings());
        broker.close();
        assertDoesNotThrow(broker::close);
        assertThrows(IllegalStateException.class, () -> broker.get("/topics"));
    }

    @Test
    void namesAndPasswordsWithQuotesLogIn() throws Exception {
        var settings = new BrokerSettings().user("al\"ice", "a\"b\\c;d").topic("orders", 1);
        settings.acl("{principal: 'User:al\"ice', allow: Describe, topic: orders}");
        try (var broker = KafkaShimBroker.start(settings);
                var admin = Admin.create(broker.clientConfig("al\"ice"))) {
            assertEquals(Set.of("orders"), admin.listTopics().names().get());
        }
    }
}
