import org.springframework.kafka.test.EmbeddedKafkaBroker;
import org.springframework.kafka.test.context.EmbeddedKafka;
import org.testcontainers.kafka.KafkaContainer;

@EmbeddedKafka(topics = "orders", partitions = 3, count = 3, brokerProperties = "num.partitions=3")
class Shown {
    static final String ADDRESSES = "${" + EmbeddedKafkaBroker.SPRING_EMBEDDED_KAFKA_BROKERS + "}";

    void addTopics(EmbeddedKafkaBroker broker) {
        broker.addTopics("orders");
    }

    String start(KafkaContainer kafka) {
        return kafka.withEnv("KAFKA_NUM_PARTITIONS", "3").getBootstrapServers();
    }

    public static void main(String[] args) {
        System.out.println(ADDRESSES);
    }
}
