package orders;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.github.kafkashim.BrokerSettings;
import io.github.kafkashim.KafkaShimContainer;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;

@EnabledIfEnvironmentVariable(named = "KAFKA_SHIM_IMAGE", matches = ".+")
class OrdersTest {
    @Test
    void aliceMayPublishToTheOldReleaseAndBobMayNot() throws Exception {
        aliceMayPublishAndBobMayNot("3.9");
    }

    @Test
    void aliceMayPublishToTheNewReleaseAndBobMayNot() throws Exception {
        aliceMayPublishAndBobMayNot("4.3");
    }

    private static void aliceMayPublishAndBobMayNot(String release) throws Exception {
        var settings = new BrokerSettings().kafkaVersion(release).topic("orders", 1).user("alice", "a").user("bob", "b");
        settings.acl("{principal: User:alice, allow: [Write], topic: orders}");
        try (var container = new KafkaShimContainer(System.getenv("KAFKA_SHIM_IMAGE")).withSettings(settings)) {
            container.start();
            publish(container.broker().clientConfig("alice"));
            var error = assertThrows(ExecutionException.class, () -> publish(container.broker().clientConfig("bob")));
            assertInstanceOf(TopicAuthorizationException.class, error.getCause());
            publish(Map.of("bootstrap.servers", container.getBootstrapServers()));
            assertEquals(List.of(2L), container.broker().endOffsets("orders"));
            assertEquals(release, container.broker().get("/state").get("release").asText());
        }
    }

    private static void publish(Map<String, Object> config) throws Exception {
        var serializer = new StringSerializer();
        try (var producer = new KafkaProducer<>(config, serializer, serializer)) {
            producer.send(new ProducerRecord<>("orders", "order-1")).get();
        }
    }
}
