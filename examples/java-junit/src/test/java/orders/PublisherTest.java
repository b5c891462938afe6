package orders;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.github.kafkashim.KafkaShim;
import io.github.kafkashim.KafkaShimBroker;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Permissions and trouble, as tests: they run in parallel, each with a broker of its own. */
@KafkaShim(users = "shop:secret", topics = "orders")
class PublisherTest {
    private static final String MAY_WRITE = "{principal: User:shop, allow: [Write], topic: orders}";

    private KafkaShimBroker broker;
    private Publisher publisher;

    @BeforeEach
    void begin(KafkaShimBroker broker) {
        this.broker = broker;
        publisher = new Publisher(broker.clientConfig("shop"));
    }

    @AfterEach
    void end() {
        publisher.close();
    }

    @Test
    void anOrderIsPublished() throws Exception {
        broker.addAcl(MAY_WRITE);
        publisher.publish("order-1");
        assertEquals(List.of(1L), broker.endOffsets("orders"));
    }

    @Test
    void withoutPermissionThePublisherSaysSo() {
        assertThrows(NotAllowedException.class, () -> publisher.publish("order-1"));
        assertEquals("User:shop", broker.denials().get(0).get("principal").asText());
        assertEquals(List.of(0L), broker.endOffsets("orders"));
    }

    @Test
    void aGrantThatIsLostInMidStreamLosesNoOrder() throws Exception {
        broker.addAcl(MAY_WRITE);
        broker.addFault("{action: {revoke: [" + MAY_WRITE + "]}, match: {api: Produce}, trigger: {on_call: 3}}");
        var left = publisher.publishAll(List.of("order-1", "order-2", "order-3", "order-4"));
        assertEquals(List.of("order-3", "order-4"), left);
        assertEquals(List.of(2L), broker.endOffsets("orders"));
    }

    @Test
    @KafkaShim(
            users = "shop:secret",
            topics = "orders",
            acls = MAY_WRITE,
            faults = "{action: {disconnect: after}, match: {api: Produce}}")
    void anAnswerThatIsLostStoresNoOrderTwice() throws Exception {
        publisher.publish("order-1");
        assertEquals(1, broker.get("/faults").at("/faults/0/fired").asInt());
        assertEquals(List.of(1L), broker.endOffsets("orders"));
    }

    @Test
    @KafkaShim(kafkaVersion = "2.7", users = "shop:secret", topics = "orders", acls = MAY_WRITE)
    void beforeKip679AnIdempotentWriterNeedsMoreThanWrite() {
        assertThrows(NotAllowedException.class, () -> publisher.publish("order-1"));
    }
}
