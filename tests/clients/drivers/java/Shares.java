import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.ListShareGroupOffsetsSpec;
import org.apache.kafka.clients.consumer.AcknowledgeType;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaShareConsumer;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.serialization.StringDeserializer;

/** Calls about share groups (KIP-932). */
final class Shares {
    private Shares() {}

    /** Lets a group begin with the first record. */
    static Object readFromTheStart(Driver.Request request) throws Exception {
        var group = new ConfigResource(ConfigResource.Type.GROUP, request.text("group"));
        var earliest = new ConfigEntry("share.auto.offset.reset", "earliest");
        var set = new AlterConfigOp(earliest, AlterConfigOp.OpType.SET);
        Connection.admin(request).incrementalAlterConfigs(Map.of(group, List.of(set))).all().get();
        return null;
    }

    /**
     * Reads `count` deliveries: values with their delivery counts. `types` has the acknowledgements of
     * a value, one for each delivery; other values are accepted.
     */
    static Object consume(Driver.Request request) throws Exception {
        Map<String, Object> settings = request.settings();
        settings.put("group.id", request.text("group"));
        settings.put("share.acknowledgement.mode", "explicit");
        int count = request.arguments().get("count").asInt();
        JsonNode types = request.arguments().get("types");
        Map<String, Integer> seen = new HashMap<>();
        List<List<Object>> found = new ArrayList<>();
        long deadline = System.nanoTime() + (long) (request.arguments().get("seconds").asDouble() * 1e9);
        var strings = new StringDeserializer();
        try (var consumer = new KafkaShareConsumer<>(settings, strings, strings)) {
            consumer.subscribe(List.of(request.text("topic")));
            while (found.size() < count) {
                if (System.nanoTime() > deadline) {
                    throw new TimeoutException(found + " instead of " + count + " deliveries in time");
                }
                for (ConsumerRecord<String, String> one : consumer.poll(Duration.ofMillis(500))) {
                    found.add(List.of(one.value(), one.deliveryCount().get()));
                    int times = seen.merge(one.value(), 1, Integer::sum);
                    JsonNode told = types.path(one.value()).path(times - 1);
                    consumer.acknowledge(one, AcknowledgeType.valueOf(told.asText("ACCEPT")));
                }
                consumer.commitSync().forEach((partition, error) -> error.ifPresent(Shares::fail));
            }
        }
        return found;
    }

    private static void fail(RuntimeException error) {
        throw error;
    }

    /** Returns start offset and lag of the group in partition 0 of a topic. */
    static Object offsets(Driver.Request request) throws Exception {
        String group = request.text("group");
        var told =
                Connection.admin(request)
                        .listShareGroupOffsets(Map.of(group, new ListShareGroupOffsetsSpec()))
                        .partitionsToOffsetInfo(group)
                        .get();
        List<Object> rows = new ArrayList<>();
        told.forEach((partition, info) -> rows.add(List.of(info.startOffset(), info.lag().get())));
        return rows;
    }
}
