import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.acl.AclBindingFilter;

/** Prints the exceptions of Kafka's clients, with their causes.
 *
 * <p>Arguments: the addresses of PLAINTEXT, SASL_PLAINTEXT and TLS listeners, of a broker of 2.3, and of one without an authorizer.
 */
public final class ErrorTexts {
    private static final String STRING = "org.apache.kafka.common.serialization.String";
    private static String plaintext;
    private static String sasl;

    private ErrorTexts() {}

    public static void main(String[] addresses) throws Exception {
        plaintext = addresses[0];
        sasl = addresses[1];
        String tls = addresses[2];
        List<Callable<Object>> situations = List.of(
            () -> produce(alice("secret"), "orders"),
            () -> produce(alice("secret"), "shared"),
            () -> consume(alice("secret"), "shared"),
            () -> create(alice("secret"), new NewTopic("new", 1, (short) 1)),
            () -> initTransactions(alice("secret")),
            () -> produce(impatient(settings(plaintext)), "missing"),
            () -> produce(alice("wrong"), "orders"),
            () -> produce(with(alice("secret"), "sasl.mechanism", "SCRAM-SHA-512", "sasl.jaas.config", scram()), "orders"),
            () -> produce(with(alice("secret"), "bootstrap.servers", plaintext), "orders"),
            () -> list(impatient(settings(sasl))),
            () -> list(impatient(settings("127.0.0.1:1"))),
            () -> list(settings("no-such-host.invalid:9092")),
            () -> list(with(settings(tls), "security.protocol", "SSL")),
            () -> create(settings(plaintext), new NewTopic("orders", 1, (short) 1)),
            () -> create(settings(plaintext), new NewTopic("copies", 1, (short) 3)),
            () -> fence(settings(plaintext)),
            () -> produceLarge(settings(plaintext)),
            () -> describeScram(settings(addresses[3])),
            () -> describeAcls(settings(addresses[4])));
        ExecutorService threads = Executors.newFixedThreadPool(situations.size());
        List<Future<Object>> results = new ArrayList<>();
        for (Callable<Object> situation : situations) {
            results.add(threads.submit(situation));
        }
        for (Future<Object> result : results) {
            try {
                System.out.println("no error: " + result.get());
            } catch (Exception error) {
                for (Throwable cause = error; cause != null; cause = cause.getCause()) {
                    System.out.println(cause.toString().replace('\n', ' '));
                }
            }
        }
        threads.shutdownNow();
        System.exit(0);
    }

    private static Properties settings(String address) {
        Properties settings = new Properties();
        settings.put("bootstrap.servers", address);
        settings.put("key.serializer", STRING + "Serializer");
        settings.put("value.serializer", STRING + "Serializer");
        settings.put("key.deserializer", STRING + "Deserializer");
        settings.put("value.deserializer", STRING + "Deserializer");
        settings.put("max.block.ms", "60000");
        return settings;
    }

    /** Settings for clients that never get an answer. */
    private static Properties impatient(Properties settings) {
        return with(settings, "max.block.ms", "3000", "request.timeout.ms", "2000", "default.api.timeout.ms", "3000");
    }

    private static Properties alice(String password) {
        String module = "org.apache.kafka.common.security.plain.PlainLoginModule required";
        return with(settings(sasl), "security.protocol", "SASL_PLAINTEXT", "sasl.mechanism", "PLAIN",
            "sasl.jaas.config", module + " username=\"alice\" password=\"" + password + "\";");
    }

    private static String scram() {
        return "org.apache.kafka.common.security.scram.ScramLoginModule required"
            + " username=\"alice\" password=\"wrong\";";
    }

    private static Properties with(Properties settings, String... more) {
        for (int index = 0; index < more.length; index += 2) {
            settings.put(more[index], more[index + 1]);
        }
        return settings;
    }

    private static Object produce(Properties settings, String topic) throws Exception {
        try (KafkaProducer<String, String> producer = new KafkaProducer<>(settings)) {
            return producer.send(new ProducerRecord<>(topic, "a")).get();
        }
    }

    private static Object produceLarge(Properties settings) throws Exception {
        settings.put("max.request.size", "5000000");
        try (KafkaProducer<String, String> producer = new KafkaProducer<>(settings)) {
            return producer.send(new ProducerRecord<>("orders", "a".repeat(2_000_000))).get();
        }
    }

    private static Object consume(Properties settings, String topic) {
        settings.put("group.id", "billing");
        try (KafkaConsumer<String, String> consumer = new KafkaConsumer<>(settings)) {
            consumer.subscribe(List.of(topic));
            return consumer.poll(java.time.Duration.ofSeconds(60)).count();
        }
    }

    private static Object create(Properties settings, NewTopic topic) throws Exception {
        try (Admin admin = Admin.create(settings)) {
            return admin.createTopics(List.of(topic)).all().get();
        }
    }

    private static Object list(Properties settings) throws Exception {
        try (Admin admin = Admin.create(settings)) {
            return admin.listTopics().names().get();
        }
    }

    private static Object describeScram(Properties settings) throws Exception {
        try (Admin admin = Admin.create(settings)) {
            return admin.describeUserScramCredentials().all().get();
        }
    }

    private static Object describeAcls(Properties settings) throws Exception {
        try (Admin admin = Admin.create(settings)) {
            return admin.describeAcls(AclBindingFilter.ANY).values().get();
        }
    }

    private static Object initTransactions(Properties settings) {
        settings.put("transactional.id", "payments");
        try (KafkaProducer<String, String> producer = new KafkaProducer<>(settings)) {
            producer.initTransactions();
            return Map.of();
        }
    }

    private static Object fence(Properties settings) throws Exception {
        settings.put("transactional.id", "payments");
        try (KafkaProducer<String, String> first = new KafkaProducer<>(settings);
                KafkaProducer<String, String> second = new KafkaProducer<>(settings)) {
            first.initTransactions();
            second.initTransactions();
            first.beginTransaction();
            first.send(new ProducerRecord<>("orders", "a")).get();
            return Map.of();
        }
    }
}
