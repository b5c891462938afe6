package io.github.kafkashim;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.StreamSupport;

/** A broker of a test's own; {@code start} starts one without JUnit. */
public final class KafkaShimBroker implements AutoCloseable {
    private final ControlApi control;
    private final JsonNode row;
    private final ObjectNode users; // their passwords
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

    /** Returns the denials that Kafka's audit log has, oldest first: principal, operation, resource_name and so on. */
    public List<JsonNode> denials() {
        return elements(get("/decisions?allowed=false&logged=true").get("decisions"));
    }

    /** Returns the end offsets of a topic's partitions. */
    public List<Long> endOffsets(String topic) {
        return elements(get("/topics").get("topics")).stream()
                .filter(found -> found.get("name").asText().equals(topic))
                .flatMap(found -> elements(found.get("end_offsets")).stream().map(JsonNode::asLong))
                .toList();
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

    private static String escaped(String jaasValue) {
        return jaasValue.replace("\\", "\\\\").replace("\"", "\\\"");
    }

    private static List<JsonNode> elements(JsonNode array) {
        return StreamSupport.stream(array.spliterator(), false).toList();
    }
}
