package orders;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.github.kafkashim.BrokerSettings;
import io.github.kafkashim.KafkaShimBroker;
import java.util.List;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.kafka.core.KafkaTemplate;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

@SpringBootTest
class OrdersApplicationTest {
    static final String WRITE = "{principal: User:alice, allow: [Write], topic: orders}";
    static final KafkaShimBroker BROKER =
            KafkaShimBroker.start(new BrokerSettings().user("alice", "alice-secret").topic("orders", 1).acl(WRITE));

    @DynamicPropertySource
    static void kafka(DynamicPropertyRegistry registry) {
        registry.add("spring.kafka.bootstrap-servers", () -> BROKER.getBootstrapServers("SASL_PLAINTEXT"));
        BROKER.clientConfig("alice")
                .forEach((name, value) -> registry.add("spring.kafka.properties." + name, () -> value));
    }

    @Autowired
    KafkaTemplate<String, String> template;

    @AfterEach
    void reset() {
        BROKER.reset();
    }

    @Test
    void aliceMayPublish() throws Exception {
        template.send("orders", "order-1").get();
        assertEquals(List.of(1L), BROKER.endOffsets("orders"));
    }

    @Test
    void withoutHerPermissionAliceMayNot() {
        BROKER.removeAcl(WRITE);
        var error = assertThrows(Exception.class, () -> template.send("orders", "order-2").get());
        assertInstanceOf(TopicAuthorizationException.class, NestedExceptionUtils.getRootCause(error));
    }
}
