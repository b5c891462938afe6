import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.springframework.kafka.core.DefaultKafkaConsumerFactory;
import org.springframework.kafka.core.DefaultKafkaProducerFactory;
import org.springframework.kafka.core.KafkaAdmin;
import org.springframework.kafka.core.KafkaTemplate;
import org.springframework.kafka.listener.ContainerProperties;
import org.springframework.kafka.listener.KafkaMessageListenerContainer;
import org.springframework.kafka.listener.MessageListener;

/** Spring Kafka's template, listener container or admin does its task and prints `done`. */
public class SpringKafka {
    public static void main(String[] arguments) throws Exception {
        switch (arguments[0]) {
            case "producer" -> template(settings()).send("orders", "x").get(20, TimeUnit.SECONDS);
            case "transactions" -> produceInTransaction();
            case "listener" -> consume();
            case "admin" -> createTopic();
        }
        System.out.println("done");
        System.exit(0);
    }

    private static Map<String, Object> settings() {
        Map<String, Object> settings = new HashMap<>();
        settings.put("bootstrap.servers", System.getenv("KAFKA_BOOTSTRAP_SERVERS"));
        settings.put("security.protocol", "SASL_PLAINTEXT");
        settings.put("sasl.mechanism", "PLAIN");
        settings.put("sasl.jaas.config", String.format(
            "org.apache.kafka.common.security.plain.PlainLoginModule required username=\"%s\" password=\"%s\";",
            System.getenv("KAFKA_USER"), System.getenv("KAFKA_PASSWORD")));
        settings.put("max.block.ms", 20000);
        return settings;
    }

    private static KafkaTemplate<String, String> template(Map<String, Object> settings) {
        return new KafkaTemplate<>(new DefaultKafkaProducerFactory<>(
            settings, new StringSerializer(), new StringSerializer()));
    }

    private static void produceInTransaction() {
        var factory = new DefaultKafkaProducerFactory<>(
            settings(), new StringSerializer(), new StringSerializer());
        factory.setTransactionIdPrefix("billing-tx");
        new KafkaTemplate<>(factory).executeInTransaction(operations -> operations.send("orders", "x"));
    }

    private static void consume() throws InterruptedException {
        var properties = new ContainerProperties("orders");
        var records = new CountDownLatch(4);
        properties.setGroupId("billing");
        properties.setMessageListener((MessageListener<String, String>) record -> records.countDown());
        var container = new KafkaMessageListenerContainer<>(new DefaultKafkaConsumerFactory<>(
            settings(), new StringDeserializer(), new StringDeserializer()), properties);
        container.start();
        boolean isComplete = records.await(30, TimeUnit.SECONDS);
        container.stop();
        if (!isComplete) throw new IllegalStateException("records are missing");
    }

    private static void createTopic() {
        var admin = new KafkaAdmin(settings());
        admin.setFatalIfBrokerNotAvailable(true);
        admin.setOperationTimeout(20);
        admin.createOrModifyTopics(new NewTopic("invoices", 1, (short) 1));
    }
}
