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

    Client(Loop.Fields fields) throws Exception {
        name = fields.text("client");
        settings.putAll(fields.pairs("settings"));
        settings.put("bootstrap.servers", fields.text("servers"));
        Object protocol = settings.get(PROTOCOL);
        if (protocol != null && !ConsumerConfig.configNames().contains(PROTOCOL)) {
            throw new Loop.Unsupported();
        }
        if ("consumer".equals(protocol)) { // the broker decides these
            settings.keySet().removeAll(List.of("session.timeout.ms", "heartbeat.interval.ms"));
        }
        String transport = fields.has("tls") ? "SSL" : "PLAINTEXT";
        settings.put("security.protocol", (fields.has("login") ? "SASL_" : "") + transport);
        addTls(fields.at("tls"));
        if (fields.has("login")) {
            setLogin(fields.at("login"));
        }
    }

    private void addTls(Loop.Fields tls) throws Exception {
        if (tls.has("ca")) {
            settings.put("ssl.truststore.type", "PEM");
            settings.put("ssl.truststore.location", tls.text("ca"));
        }
        if (tls.has("certificate")) {
            String chain = Files.readString(Path.of(tls.text("certificate")));
            settings.put("ssl.keystore.type", "PEM");
            settings.put("ssl.keystore.certificate.chain", chain);
            settings.put("ssl.keystore.key", Files.readString(Path.of(tls.text("key"))));
        }
    }

    void setLogin(Loop.Fields login) {
        settings.putAll(Logins.settings(name, login));
    }

    Admin admin() {
        if (admin == null) {
            admin = Admin.create(settings);
        }
        return admin;
    }

    Producer<String, String> producer() {
        if (producer == null) {
            StringSerializer texts = new StringSerializer();
            producer = new KafkaProducer<>(settings, texts, texts);
        }
        return producer;
    }

    boolean consumes() {
        return consumer != null;
    }

    Consumer<String, String> consumer() {
        if (consumer == null) {
            StringDeserializer texts = new StringDeserializer();
            consumer = new KafkaConsumer<>(settings, texts, texts);
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

    void close() throws Exception {
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
