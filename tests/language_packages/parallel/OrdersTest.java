package orders;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.github.kafkashim.KafkaShim;
import io.github.kafkashim.KafkaShimBroker;
import java.util.List;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.RepeatedTest;

/** Twenty tests at the same time: each user writes to its own broker, or is denied. */
@KafkaShim(
        users = {"alice:alice-secret", "bob:bob-secret"},
        topics = "orders",
        acls = "{principal: alice, allow: [Write], topic: orders}")
class OrdersTest {
    @RepeatedTest(10)
    void aliceMayPublish(KafkaShimBroker broker) throws Exception {
        publish(broker, "alice");
        assertEquals(List.of(1L), broker.endOffsets("orders"));
        assertEquals(List.of(), broker.denials());
    }

    @RepeatedTest(10)
    void bobMayNot(KafkaShimBroker broker) {
        var error = assertThrows(ExecutionException.class, () -> publish(broker, "bob"));
        assertInstanceOf(TopicAuthorizationException.class, error.getCause());
        broker.assertDenied("bob", "Describe", "topic:orders");
        assertEquals(1, broker.denials().size());
        assertEquals(List.of(0L), broker.endOffsets("orders"));
    }

    private static void publish(KafkaShimBroker broker, String user) throws Exception {
        var serializer = new StringSerializer();
        try (var producer = new KafkaProducer<>(broker.clientConfig(user), serializer, serializer)) {
            producer.send(new ProducerRecord<>("orders", user)).get();
        }
    }
}
