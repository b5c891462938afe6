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

/** One client of the contract: an admin, a producer and a consumer, each made when needed. */
final class Client implements ConsumerRebalanceListener {
    private static final String PROTOCOL = "group.protocol";

    final Map<String, Object> settings = new HashMap<>();
    /** What happened to a group member and was not waited for yet. */
    final List<String> events = new ArrayList<>();
    /** Values that were read and not asked for yet. */
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
            if (settings.get(PROTOCOL).equals("consumer")) { // then the broker decides on these
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

    /** A member of another kind, to be closed with the client. */
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
