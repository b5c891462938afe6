package orders;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Permissions and trouble, as tests: they run in parallel, each with a broker of its own. */
class PublisherTest {
    private static final String MAY_WRITE =
            "{\"principal\": \"User:shop\", \"allow\": [\"Write\"], \"topic\": \"orders\"}";

    private KafkaShim broker;
    private Publisher publisher;

    @BeforeEach
    void begin() throws Exception {
        broker = KafkaShim.create("{\"users\": {\"shop\": \"secret\"}, \"topics\": [\"orders\"]}");
        publisher = new Publisher(broker.settings("shop", "secret"));
    }

    @AfterEach
    void end() throws Exception {
        publisher.close();
        broker.close();
    }

    @Test
    void anOrderIsPublished() throws Exception {
        allow();
        publisher.publish("order-1");
        assertEquals(1, stored());
    }

    @Test
    void withoutPermissionThePublisherSaysSo() throws Exception {
        assertThrows(NotAllowedException.class, () -> publisher.publish("order-1"));
        var denied = broker.get("/decisions?allowed=false&logged=true").get("decisions");
        assertEquals("User:shop", denied.get(0).get("principal").asText());
        assertEquals(0, stored());
    }

    @Test
    void aGrantThatIsLostInMidStreamLosesNoOrder() throws Exception {
        allow();
        broker.post(
                "/faults",
                "{\"action\": {\"revoke\": [" + MAY_WRITE + "]},"
                        + " \"match\": {\"api\": \"Produce\"}, \"trigger\": {\"on_call\": 3}}");
        var left = publisher.publishAll(List.of("order-1", "order-2", "order-3", "order-4"));
        assertEquals(List.of("order-3", "order-4"), left);
        assertEquals(2, stored());
    }

    @Test
    void anAnswerThatIsLostStoresNoOrderTwice() throws Exception {
        allow();
        broker.post(
                "/faults",
                "{\"action\": {\"disconnect\": \"after\"}, \"match\": {\"api\": \"Produce\"}}");
        publisher.publish("order-1");
        assertEquals(1, broker.get("/faults").at("/faults/0/fired").asInt());
        assertEquals(1, stored());
    }

    @Test
    void beforeKip679AnIdempotentWriterNeedsMoreThanWrite() throws Exception {
        String settings =
                "{\"kafka_version\": \"2.7\", \"users\": {\"shop\": \"secret\"},"
                        + " \"topics\": [\"orders\"], \"acls\": [" + MAY_WRITE + "]}";
        try (var old = KafkaShim.create(settings);
                var writer = new Publisher(old.settings("shop", "secret"))) {
            assertThrows(NotAllowedException.class, () -> writer.publish("order-1"));
        }
    }

    private void allow() throws IOException, InterruptedException {
        broker.post("/acls", "{\"acls\": [" + MAY_WRITE + "]}");
    }

    /** How many orders the broker has. */
    private int stored() throws IOException, InterruptedException {
        return broker.get("/topics").at("/topics/0/end_offsets/0").asInt();
    }
}
