package orders;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Permissions and trouble, as tests: each has a broker as new, and no container. */
class PublisherTest {
    private static final String MAY_WRITE =
            "{\"principal\": \"User:shop\", \"allow\": [\"Write\"], \"topic\": \"orders\"}";

    private Publisher publisher;

    @BeforeEach
    void begin() throws Exception {
        Broker.post("/reset", "");
        publisher = new Publisher(Broker.settings("shop"));
    }

    @AfterEach
    void end() {
        publisher.close();
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
        var denied = Broker.get("/decisions?allowed=false&logged=true").get("decisions");
        assertEquals("User:shop", denied.get(0).get("principal").asText());
        assertEquals(0, stored());
    }

    @Test
    void aGrantThatIsLostInMidStreamLosesNoOrder() throws Exception {
        allow();
        Broker.post(
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
        Broker.post(
                "/faults",
                "{\"action\": {\"disconnect\": \"after\"}, \"match\": {\"api\": \"Produce\"}}");
        publisher.publish("order-1");
        assertEquals(1, Broker.get("/faults").at("/faults/0/fired").asInt());
        assertEquals(1, stored());
    }

    private static void allow() throws IOException, InterruptedException {
        Broker.post("/acls", "{\"acls\": [" + MAY_WRITE + "]}");
    }

    /** How many orders the broker has. */
    private static int stored() throws IOException, InterruptedException {
        return Broker.get("/topics").at("/topics/0/end_offsets/0").asInt();
    }
}
