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
import org.junit.jupiter.api.Test;

@KafkaShim(
        users = {"alice:alice-secret", "bob:bob-secret"},
        topics = "orders",
        acls = "{principal: User:alice, allow: [Write], topic: orders}")
class OrdersTest {
    @Test
    void aliceMayPublish(KafkaShimBroker broker) throws Exception {
        publish(broker, "alice");
        assertEquals(List.of(1L), broker.endOffsets("orders"));
    }

    @Test
    void bobMayNot(KafkaShimBroker broker) {
        var error = assertThrows(ExecutionException.class, () -> publish(broker, "bob"));
        assertInstanceOf(TopicAuthorizationException.class, error.getCause());
        assertEquals("User:bob", broker.denials().get(0).get("principal").asText());
    }

    @Test
    void aLostResponseStoresNoOrderTwice(KafkaShimBroker broker) throws Exception {
        broker.addFault("{action: {disconnect: after}, match: {api: Produce}}");
        publish(broker, "alice");
        assertEquals(List.of(1L), broker.endOffsets("orders"));
    }

    private static void publish(KafkaShimBroker broker, String user) throws Exception {
        var serializer = new StringSerializer();
        try (var producer = new KafkaProducer<>(broker.clientConfig(user), serializer, serializer)) {
            producer.send(new ProducerRecord<>("orders", "order-1")).get();
        }
    }
}
