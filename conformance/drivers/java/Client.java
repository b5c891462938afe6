import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.*;
import java.util.function.Function;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.*;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/** A client of the contract: an admin, a producer and a consumer, each created on first use. */
final class Client implements ConsumerRebalanceListener {
    private static final String PROTOCOL = "group.protocol";

    final Map<String, Object> settings = new HashMap<>();
    /** Events of a group member that no {@code wait} command has taken yet. */
    final List<String> events = new ArrayList<>();
    /** Values that were read, but not returned yet. */
    final List<String> unread = new ArrayList<>();

    List<String> subscribed = List.of();
    boolean hasBegun;

    private final String name;
    private Admin admin;
    private Producer<String, String> producer;
    private Consumer<String, String> consumer;
    private AutoCloseable member;

    Client(JsonNode fields) throws Exception {
        name = Driver.text(fields, "client");
        settings.putAll(Driver.pairs(fields, "settings"));
        settings.put("bootstrap.servers", Driver.text(fields, "servers"));
        if (settings.containsKey(PROTOCOL)) {
            if (!ConsumerConfig.configNames().contains(PROTOCOL)) {
                throw new Driver.Unsupported();
            }
            if (settings.get(PROTOCOL).equals("consumer")) { // the broker decides these
                settings.keySet().removeAll(List.of("session.timeout.ms", "heartbeat.interval.ms"));
            }
        }
        boolean hasTls = fields.hasNonNull("tls");
        boolean hasLogin = fields.hasNonNull("login");
        settings.put("security.protocol", (hasLogin ? "SASL_" : "") + (hasTls ? "SSL" : "PLAINTEXT"));
        if (hasTls) {
            addTls(Driver.pairs(fields, "tls"));
        }
        if (hasLogin) {
            settings.putAll(Logins.settings(name, fields.get("login")));
        }
    }

    private void addTls(Map<String, String> tls) throws Exception {
        if (tls.get("ca") != null) {
            settings.put("ssl.truststore.type", "PEM");
            settings.put("ssl.truststore.location", tls.get("ca"));
        }
        if (tls.get("certificate") != null) {
            settings.put("ssl.keystore.type", "PEM");
            settings.put("ssl.keystore.certificate.chain", Files.readString(Path.of(tls.get("certificate"))));
            settings.put("ssl.keystore.key", Files.readString(Path.of(tls.get("key"))));
        }
    }

    Object setLogin(JsonNode login) {
        Logins.settings(name, login);
        return null;
    }

    Admin admin() {
        if (admin == null) {
            admin = Admin.create(settings);
        }
        return admin;
    }

    Producer<String, String> producer() {
        if (producer == null) {
            producer = new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer());
        }
        return producer;
    }

    boolean consumes() {
        return consumer != null;
    }

    Consumer<String, String> consumer() {
        if (consumer == null) {
            consumer = new KafkaConsumer<>(settings, new StringDeserializer(), new StringDeserializer());
        }
        return consumer;
    }

    /** Returns the member of another type of group, which close() closes too. */
    @SuppressWarnings("unchecked")
    <T extends AutoCloseable> T member(Function<Client, T> made) {
        if (member == null) {
            member = made.apply(this);
        }
        return (T) member;
    }

    Object close() throws Exception {
        if (consumer != null) {
            Release.close(consumer, Duration.ofSeconds(1));
        }
        if (member != null) {
            member.close();
        }
        if (producer != null) {
            producer.close(Duration.ZERO);
        }
        if (admin != null) {
            admin.close(Duration.ZERO);
        }
        return null;
    }

    @Override
    public void onPartitionsAssigned(Collection<TopicPartition> assigned) {
        events.add("assigned");
    }

    @Override
    public void onPartitionsRevoked(Collection<TopicPartition> revoked) {
        if (!revoked.isEmpty()) {
            events.add("revoked");
        }
    }

    @Override
    public void onPartitionsLost(Collection<TopicPartition> lost) {
        events.add("lost");
    }
}
