import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Future;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.admin.ListConsumerGroupOffsetsSpec;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/** Calls that produce, consume, and commit or fetch offsets. */
final class Records {
    private Records() {}

    static Object produce(Driver.Request request) throws Exception {
        Map<String, Object> settings = request.settings();
        settings.remove("default.api.timeout.ms"); // not a setting of producers
        JsonNode idempotent = request.arguments().get("idempotent");
        if (!idempotent.isNull()) {
            settings.put("enable.idempotence", idempotent.asBoolean());
        }
        settings.put("max.block.ms", Connection.DEADLINE_MS);
        settings.put("delivery.timeout.ms", Connection.DEADLINE_MS);
        var strings = new StringSerializer();
        try (var producer = new KafkaProducer<>(settings, strings, strings)) {
            List<Future<RecordMetadata>> sent = new ArrayList<>();
            for (JsonNode value : request.arguments().get("values")) {
                sent.add(producer.send(new ProducerRecord<>(request.text("topic"), value.asText())));
            }
            List<Long> offsets = new ArrayList<>();
            for (Future<RecordMetadata> one : sent) {
                offsets.add(one.get().offset());
            }
            return offsets;
        }
    }

    static Object consume(Driver.Request request) throws Exception {
        Map<String, Object> settings = request.settings();
        settings.put("group.id", request.text("group"));
        settings.put("auto.offset.reset", "earliest");
        settings.put("enable.auto.commit", false);
        if (request.arguments().has("group_protocol")) {
            settings.put("group.protocol", request.text("group_protocol"));
        }
        int count = request.arguments().get("count").asInt();
        long nanos = (long) (request.arguments().get("seconds").asDouble() * 1e9);
        var strings = new StringDeserializer();
        var consumer = new KafkaConsumer<>(settings, strings, strings);
        try {
            consumer.subscribe(List.of(request.text("topic")));
            List<String> values = new ArrayList<>();
            long deadline = System.nanoTime() + nanos;
            while (values.size() < count) {
                if (System.nanoTime() > deadline) {
                    throw new TimeoutException(values.size() + " of " + count + " values in time");
                }
                consumer.poll(Duration.ofMillis(500)).forEach(one -> values.add(one.value()));
            }
            consumer.commitSync();
            return values;
        } finally {
            consumer.close(CloseOptions.timeout(Duration.ofSeconds(5)));
        }
    }

    static Object commitOffset(Driver.Request request) throws Exception {
        var partition = new TopicPartition(request.text("topic"), 0);
        var offset = new OffsetAndMetadata(request.arguments().get("offset").asLong());
        return Connection.admin(request)
                .alterConsumerGroupOffsets(request.text("group"), Map.of(partition, offset))
                .all()
                .get();
    }

    static Object offsetFetch(Driver.Request request) throws Exception {
        String topic = request.text("topic");
        var asked = new ListConsumerGroupOffsetsSpec();
        if (topic != null) {
            asked.topicPartitions(List.of(new TopicPartition(topic, 0)));
        }
        var told =
                Connection.admin(request)
                        .listConsumerGroupOffsets(Map.of(request.text("group"), asked))
                        .partitionsToOffsetAndMetadata(request.text("group"))
                        .get();
        Map<String, Long> offsets = new HashMap<>();
        told.forEach(
                (partition, offset) ->
                        offsets.put(
                                partition.topic() + "-" + partition.partition(),
                                offset == null ? -1 : offset.offset()));
        return offsets;
    }
}
