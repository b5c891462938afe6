package orders;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.github.kafkashim.BrokerSettings;
import io.github.kafkashim.KafkaShimExtension;
import java.util.List;
import org.apache.kafka.clients.admin.Admin;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class SharedBrokerTest {
    @RegisterExtension
    static final KafkaShimExtension KAFKA =
            new KafkaShimExtension(new BrokerSettings().kafkaVersion("3.9").topic("orders", 3).set("brokers", 2));

    @Test
    void theTopicExists() throws Exception {
        try (var admin = Admin.create(KAFKA.broker().clientConfig())) {
            var topic = admin.describeTopics(List.of("orders")).allTopicNames().get().get("orders");
            assertEquals(3, topic.partitions().size());
        }
    }

    @Test
    void thereAreTwoBrokers() throws Exception {
        try (var admin = Admin.create(KAFKA.broker().clientConfig())) {
            assertEquals(2, admin.describeCluster().nodes().get().size());
        }
    }
}
