import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/** Calls with transactions. */
final class Transactions {
    private Transactions() {}

    /** Aborts a transaction, then copies `count` values in capitals to another topic in a second one. */
    static Object run(Driver.Request request) throws Exception {
        String from = request.text("topic");
        String to = request.text("output");
        try (var producer = producer(request)) {
            producer.initTransactions();
            producer.beginTransaction();
            producer.send(new ProducerRecord<>(to, "aborted"));
            producer.flush();
            producer.abortTransaction();
            var consumer = consumer(request, request.text("group"));
            consumer.subscribe(List.of(from));
            producer.beginTransaction();
            Map<TopicPartition, OffsetAndMetadata> offsets = new HashMap<>();
            for (ConsumerRecord<String, String> one : read(consumer, request)) {
                producer.send(new ProducerRecord<>(to, one.value().toUpperCase()));
                offsets.put(new TopicPartition(from, 0), new OffsetAndMetadata(one.offset() + 1));
            }
            producer.sendOffsetsToTransaction(offsets, consumer.groupMetadata());
            producer.commitTransaction();
            close(consumer);
        }
        return committed(request, to);
    }

    /** Produces the values in one transaction. */
    static Object produce(Driver.Request request) {
        try (var producer = producer(request)) {
            producer.initTransactions();
            producer.beginTransaction();
            for (var value : request.arguments().get("values")) {
                producer.send(new ProducerRecord<>(request.text("topic"), value.asText()));
            }
            producer.commitTransaction();
        }
        return null;
    }

    /** Reads the records with isolation level read_committed. */
    private static List<String> committed(Driver.Request request, String topic) throws Exception {
        var consumer = consumer(request, null);
        consumer.assign(List.of(new TopicPartition(topic, 0)));
        List<String> values = new ArrayList<>();
        read(consumer, request).forEach(one -> values.add(one.value()));
        close(consumer);
        return values;
    }

    private static KafkaProducer<String, String> producer(Driver.Request request) {
        Map<String, Object> settings = request.settings();
        settings.remove("default.api.timeout.ms"); // not a setting of producers
        settings.put("transactional.id", request.text("transactional_id"));
        settings.put("max.block.ms", Connection.DEADLINE_MS);
        return new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer());
    }

    private static KafkaConsumer<String, String> consumer(Driver.Request request, String group) {
        Map<String, Object> settings = request.settings();
        if (group != null) {
            settings.put("group.id", group);
        }
        settings.put("auto.offset.reset", "earliest");
        settings.put("enable.auto.commit", false);
        settings.put("isolation.level", "read_committed");
        return new KafkaConsumer<>(settings, new StringDeserializer(), new StringDeserializer());
    }

    private static List<ConsumerRecord<String, String>> read(
            KafkaConsumer<String, String> consumer, Driver.Request request) throws Exception {
        int count = request.arguments().get("count").asInt();
        List<ConsumerRecord<String, String>> found = new ArrayList<>();
        long deadline = System.nanoTime() + Connection.DEADLINE_MS * 1_000_000L;
        while (found.size() < count) {
            if (System.nanoTime() > deadline) {
                throw new TimeoutException(found.size() + " of " + count + " values in time");
            }
            consumer.poll(Duration.ofMillis(200)).forEach(found::add);
        }
        return found;
    }

    private static void close(KafkaConsumer<String, String> consumer) {
        consumer.close(CloseOptions.timeout(Duration.ofSeconds(5)));
    }
}
