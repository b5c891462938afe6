package io.github.kafkashim;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.extension.ExtensionContext;

/** A broker of a test's own; {@code start} starts one without JUnit. */
public final class KafkaShimBroker implements AutoCloseable {
    private final ControlApi control;
    private final JsonNode row;
    private final ObjectNode users; // their passwords
    private volatile String reported = ""; // the query for what is new
    private final AtomicBoolean closed = new AtomicBoolean();

    KafkaShimBroker(ControlApi control, BrokerSettings settings) {
        this.control = control;
        this.row = control.call("POST", "/brokers", settings.body);
        this.users = settings.body.withObject("/users").deepCopy();
    }

    /** Starts a broker, in milliseconds: all brokers of a JVM share one kafka-shim process. */
    public static KafkaShimBroker start(BrokerSettings settings) {
        return new KafkaShimBroker(KafkaShimProcess.control(), settings);
    }

    /** Returns the addresses of the listener PLAINTEXT, where every client may do everything. */
    public String getBootstrapServers() {
        return getBootstrapServers("PLAINTEXT");
    }

    public String getBootstrapServers(String listener) {
        JsonNode servers = row.get("bootstrap_servers").get(listener);
        if (servers == null) {
            throw new IllegalArgumentException("unknown listener " + listener + " of " + row.get("bootstrap_servers"));
        }
        return servers.asText();
    }

    /** Returns settings of Kafka's clients for the listener PLAINTEXT. */
    public Map<String, Object> clientConfig() {
        return Map.of("bootstrap.servers", getBootstrapServers());
    }

    /** Returns settings of Kafka's clients with which this user logs in. */
    public Map<String, Object> clientConfig(String user) {
        if (!users.has(user)) {
            throw new IllegalArgumentException("unknown user " + user + ": name it in the settings, or call addUser");
        }
        String module = "org.apache.kafka.common.security.plain.PlainLoginModule";
        String login = "%s required username=\"%s\" password=\"%s\";";
        return Map.of(
                "bootstrap.servers", getBootstrapServers("SASL_PLAINTEXT"),
                "security.protocol", "SASL_PLAINTEXT",
                "sasl.mechanism", "PLAIN",
                "sasl.jaas.config", login.formatted(module, escaped(user), escaped(users.get(user).asText())));
    }

    public void createTopic(String name, int partitions) {
        call("POST", "/topics", Map.of("name", name, "partitions", partitions));
    }

    public void addUser(String name, String password) {
        call("POST", "/users", Map.of("name", name, "password", password));
        users.put(name, password);
    }

    /** Adds an ACL: {@code addAcl("{principal: User:alice, allow: [Write], topic: orders}")}. */
    public void addAcl(String rule) {
        call("POST", "/acls", Map.of("acls", List.of(ControlApi.parse(rule))));
    }

    public void removeAcl(String rule) {
        call("POST", "/acls/remove", Map.of("acls", List.of(ControlApi.parse(rule))));
    }

    /** Adds a fault, {@code addFault("{action: {disconnect: after}, match: {api: Produce}}")}, and returns its id. */
    public int addFault(String fault) {
        return call("POST", "/faults", ControlApi.parse(fault)).get("id").asInt();
    }

    /** Adds a fault: the next requests of an API, this many, get this error. Returns its id. */
    public int addFault(ApiName api, ErrorName error, int times) {
        return addFault("{action: {error: %s}, match: {api: %s}, trigger: {times: %d}}".formatted(error, api, times));
    }

    /**
     * Returns the denials that Kafka's audit log has, oldest first: principal, operation, resource_name and so on. Clients
     * repeat denied requests: equal denials are one, with their count.
     */
    public List<JsonNode> denials() {
        return elements(get("/denials").get("denials"));
    }

    /**
     * Throws an AssertionError unless the principal was denied this: {@code assertDenied("alice", "Write", "topic:orders")}.
     * Denials that Kafka does not log count, too. The resource of the cluster is {@code cluster}.
     */
    public void assertDenied(String principal, String operation, String resource) {
        JsonNode check = get("/denials/check?principal=%s&operation=%s&resource=%s"
                .formatted(encoded(principal), encoded(operation), encoded(resource)));
        if (!check.get("denied").asBoolean()) {
            throw new AssertionError(check.get("text").asText());
        }
    }

    /** Returns denials and refused authentications as text, with what would allow each; an empty text if there are none. */
    public String report() {
        reported = "";
        return newReport();
    }

    /** Prints what the broker denied during the test if the test has failed. */
    static void afterTest(ExtensionContext test, KafkaShimBroker broker) {
        if (broker != null && test.getExecutionException().isPresent() && !broker.closed.get()) {
            System.err.println(test.getDisplayName() + ": " + broker.newReport());
        }
    }

    /** Returns the report of what happened since the last call. */
    String newReport() {
        JsonNode denials = get("/denials?" + reported);
        reported = "after=%s&after_authentication=%s".formatted(denials.get("last"), denials.get("last_authentication"));
        return elements(denials.get("report")).stream()
                .map(section -> section.get("title").asText() + ":\n" + section.get("text").asText())
                .collect(Collectors.joining("\n"));
    }

    /** Returns the end offsets of a topic's partitions. */
    public List<Long> endOffsets(String topic) {
        return elements(get("/topics").get("topics")).stream()
                .filter(found -> found.get("name").asText().equals(topic))
                .map(found -> elements(found.get("end_offsets")).stream().map(JsonNode::asLong).toList())
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("unknown topic " + topic));
    }

    /** Returns the broker to the state in which it was started. */
    public void reset() {
        call("POST", "/reset", null);
    }

    public JsonNode get(String path) {
        return call("GET", path, null);
    }

    /** Calls the control API of this broker: {@code call("POST", "/nodes/1/stop", null)}. */
    public JsonNode call(String method, String path, Object body) {
        return control.call(method, row.get("path").asText() + path, body);
    }

    /** Stops the broker. JUnit 5.13 closes what is in its stores, too, so only the first call does something. */
    @Override
    public void close() {
        if (!closed.getAndSet(true)) {
            call("DELETE", "", null);
        }
    }

    private static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8);
    }

    private static String escaped(String jaasValue) {
        return jaasValue.replace("\\", "\\\\").replace("\"", "\\\"");
    }

    private static List<JsonNode> elements(JsonNode array) {
        return StreamSupport.stream(array.spliterator(), false).toList();
    }
}
