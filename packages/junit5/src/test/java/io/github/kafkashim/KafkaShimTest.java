package io.github.kafkashim;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class KafkaShimTest {
    private static final String MAY_WRITE = "{principal: User:alice, allow: [Write], topic: orders}";

    private static void publish(KafkaShimBroker broker) throws ExecutionException, InterruptedException {
        var serializer = new StringSerializer();
        try (var producer = new KafkaProducer<>(broker.clientConfig("alice"), serializer, serializer)) {
            producer.send(new ProducerRecord<>("orders", "order-1")).get();
        }
    }

    @Nested
    @KafkaShim(users = "alice:alice-secret", topics = "orders:3", acls = MAY_WRITE)
    class WithAnnotation {
        @Test
        void anOrderIsStored(KafkaShimBroker broker) throws Exception {
            publish(broker);
            assertEquals(1, broker.endOffsets("orders").stream().mapToLong(Long::longValue).sum());
        }

        @Test
        @KafkaShim(options = {"first_broker_id: 7", "racks: [east]"})
        void everyOptionOfTheApiCanBeSet(KafkaShimBroker broker) {
            assertEquals(7, broker.get("/nodes").at("/nodes/0/node_id").asInt());
        }

        @Test
        void namesOfApisAndErrorsAreTypes(KafkaShimBroker broker) throws Exception {
            broker.addFault(ApiName.PRODUCE, ErrorName.NOT_LEADER_OR_FOLLOWER, 2);
            publish(broker);
            assertEquals(2, broker.get("/faults").at("/faults/0/fired").asInt());
        }

        @Test
        void withoutItsAclAnOrderIsRefused(KafkaShimBroker broker) {
            broker.removeAcl(MAY_WRITE);
            var error = assertThrows(ExecutionException.class, () -> publish(broker));
            assertTrue(error.getCause() instanceof TopicAuthorizationException);
            assertEquals("User:alice", broker.denials().get(0).get("principal").asText());
        }

        @Test
        @KafkaShim(
                kafkaVersion = "3.9",
                users = "alice:a:b",
                topics = "orders",
                acls = MAY_WRITE,
                properties = "num.partitions=7",
                faults = "{action: {error: NOT_LEADER_OR_FOLLOWER}, match: {api: Produce}, trigger: {times: 2}}")
        void anAnnotationOnATestReplacesThatOfTheClass(KafkaShimBroker broker) throws Exception {
            assertEquals("3.9", broker.get("/state").get("release").asText());
            assertEquals("User:ANONYMOUS", broker.get("/state").at("/super_users/0").asText());
            publish(broker);
            assertEquals(2, broker.get("/faults").at("/faults/0/fired").asInt());
            assertEquals(List.of(1L), broker.endOffsets("orders"));
        }
    }

    @Nested
    class PerTest {
        @RegisterExtension
        KafkaShimExtension kafka = new KafkaShimExtension(
                new BrokerSettings().user("alice", "alice-secret").topic("orders", 1).acl(MAY_WRITE));

        @Test
        void eachTestHasABroker() throws Exception {
            publish(kafka.broker());
            assertEquals(List.of(1L), kafka.broker().endOffsets("orders"));
        }

        @Test
        void andStartsWithItsState() throws Exception {
            publish(kafka.broker());
            assertEquals(List.of(1L), kafka.broker().endOffsets("orders"));
            kafka.broker().reset();
            assertEquals(List.of(0L), kafka.broker().endOffsets("orders"));
        }
    }

    @Test
    void whatHasNoEffectIsLogged() {
        List<String> logged = new ArrayList<>();
        Logger logger = Logger.getLogger("kafka-shim");
        Handler handler = new Handler() {
            @Override
            public void publish(LogRecord entry) {
                logged.add(entry.getMessage());
            }

            @Override
            public void flush() {}

            @Override
            public void close() {}
        };
        logger.addHandler(handler);
        try (var broker = KafkaShimBroker.start(new BrokerSettings().acl(MAY_WRITE.replace("alice", "dora")))) {
            broker.removeAcl(MAY_WRITE);
            broker.addAcl("{principal: User:ANONYMOUS, deny: [Write], topic: orders}");
            broker.addFault("{action: {delay_ms: 1}, match: {api: Produce}}");
        } finally {
            logger.removeHandler(handler);
        }
        String text = String.join("\n", logged);
        for (var expected : List.of("was not removed", "ANONYMOUS is a super user", "`User:dora`", "never fired")) {
            assertTrue(text.contains(expected), expected + " is not in " + text);
        }
    }

    @Test
    void aFaultThatMustFireIsAnError() {
        var broker = KafkaShimBroker.start(new BrokerSettings());
        broker.addFault("{action: {delay_ms: 1}, match: {api: Produce}, must_fire: true}");
        var error = assertThrows(AssertionError.class, broker::close);
        assertTrue(error.getMessage().contains("never fired"), error.getMessage());
    }

    @Test
    void theSettingsNameWhatIsInvalid() {
        var settings = new BrokerSettings().kafkaVersion("9.9");
        var error = assertThrows(IllegalStateException.class, () -> KafkaShimBroker.start(settings));
        assertTrue(error.getMessage().contains("9.9"), error.getMessage());
        assertThrows(IllegalArgumentException.class, () -> new BrokerSettings().acl("{principal: "));
    }

    @Test
    void aMissingCommandSaysWhatToDo() {
        var error = assertThrows(UncheckedIOException.class, () -> KafkaShimProcess.start("/missing/kafka-shim"));
        assertTrue(error.getMessage().contains("set KAFKA_SHIM_BINARY"), error.getMessage());
    }
}
