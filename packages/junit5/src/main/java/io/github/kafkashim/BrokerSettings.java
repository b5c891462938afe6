package io.github.kafkashim;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;

/** The state and the settings with which a broker is started: the body of {@code POST /brokers}. */
public final class BrokerSettings {
    final ObjectNode body = ControlApi.JSON.createObjectNode();

    public BrokerSettings() {
        body.withArray("/super_users").add("User:ANONYMOUS"); // who connects to PLAINTEXT, also if there are ACLs
    }

    /** Behaves as this Kafka release, such as "3.9". */
    public BrokerSettings kafkaVersion(String release) {
        return set("kafka_version", release);
    }

    public BrokerSettings user(String name, String password) {
        body.withObject("/users").put(name, password);
        return this;
    }

    public BrokerSettings topic(String name, int partitions) {
        body.withObject("/topics").put(name, partitions);
        return this;
    }

    /** Adds an ACL as in a state file: {@code acl("{principal: User:alice, allow: [Write], topic: orders}")}. */
    public BrokerSettings acl(String rule) {
        body.withArray("/acls").add(ControlApi.parse(rule));
        return this;
    }

    /** Adds a fault as in a state file: {@code fault("{action: {disconnect: after}, match: {api: Produce}}")}. */
    public BrokerSettings fault(String fault) {
        body.withArray("/faults").add(ControlApi.parse(fault));
        return this;
    }

    /** Sets a broker setting with Kafka's name. */
    public BrokerSettings property(String name, String value) {
        body.withObject("/properties").put(name, value);
        return this;
    }

    /** Sets any key of the body of {@code POST /brokers}, such as "brokers" or "listeners". */
    public BrokerSettings set(String key, Object value) {
        body.set(key, ControlApi.JSON.valueToTree(value));
        return this;
    }

    static BrokerSettings of(KafkaShim written) {
        BrokerSettings settings = new BrokerSettings();
        if (!written.kafkaVersion().isEmpty()) {
            settings.kafkaVersion(written.kafkaVersion());
        }
        for (String user : written.users()) {
            String[] parts = split(user, ":", "users: expected NAME:PASSWORD");
            settings.user(parts[0], parts[1]);
        }
        for (String topic : written.topics()) {
            String[] parts = topic.contains(":") ? topic.split(":", 2) : new String[] {topic, "1"};
            settings.topic(parts[0], Integer.parseInt(parts[1]));
        }
        for (String property : written.properties()) {
            String[] parts = split(property, "=", "properties: expected KEY=VALUE");
            settings.property(parts[0], parts[1]);
        }
        List.of(written.acls()).forEach(settings::acl);
        List.of(written.faults()).forEach(settings::fault);
        List.of(written.options()).forEach(settings::setAll);
        return settings;
    }

    private void setAll(String option) {
        if (!(ControlApi.parse(option) instanceof ObjectNode keys)) {
            throw new IllegalArgumentException("@KafkaShim: options: expected KEY: VALUE, not " + option);
        }
        body.setAll(keys);
    }

    private static String[] split(String text, String separator, String expected) {
        String[] parts = text.split(separator, 2);
        if (parts.length != 2) {
            throw new IllegalArgumentException("@KafkaShim: " + expected + ", not " + text);
        }
        return parts;
    }
}
