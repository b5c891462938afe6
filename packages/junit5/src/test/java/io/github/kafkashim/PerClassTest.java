package io.github.kafkashim;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A broker for all tests of a class, and of classes in it. */
class PerClassTest {
    @RegisterExtension
    static final KafkaShimExtension KAFKA = new KafkaShimExtension(new BrokerSettings().topic("orders", 2));

    private static final Set<String> OF_EXTENSION = ConcurrentHashMap.newKeySet();
    private static final Set<String> OF_ANNOTATION = ConcurrentHashMap.newKeySet();
    private static volatile KafkaShimBroker shared;

    @AfterAll
    static void allTestsHadTheSameBrokers() {
        assertEquals(1, OF_EXTENSION.size());
        assertEquals(1, OF_ANNOTATION.size());
        assertNotEquals(OF_EXTENSION, OF_ANNOTATION);
        assertThrows(IllegalStateException.class, () -> shared.get("/topics"), "the broker still runs");
    }

    @Test
    void first() {
        OF_EXTENSION.add(KAFKA.broker().getBootstrapServers());
    }

    @Test
    void second() {
        OF_EXTENSION.add(KAFKA.broker().getBootstrapServers());
    }

    @Nested
    @KafkaShim(perClass = true)
    class Inner {
        @Test
        void first(KafkaShimBroker broker) {
            OF_EXTENSION.add(KAFKA.broker().getBootstrapServers());
            OF_ANNOTATION.add(broker.getBootstrapServers());
            shared = broker;
        }

        @Test
        void second(KafkaShimBroker broker) {
            OF_ANNOTATION.add(broker.getBootstrapServers());
        }
    }
}
