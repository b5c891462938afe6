import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import java.util.*;
import java.util.concurrent.Future;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;

/** Commands of producers and consumers, with transactions and groups. */
final class Members {
    private static final Duration MOMENT = Duration.ofMillis(100);

    static final Map<String, Driver.Command> COMMANDS = new HashMap<>();

    static {
        COMMANDS.put("set_login", (client, fields) -> client.setLogin(fields.get("login")));
        COMMANDS.put("wait", Members::await);
        COMMANDS.put("produce", Members::produce);
        COMMANDS.put("begin", Members::begin);
        COMMANDS.put("send_offsets", Members::sendOffsets);
        COMMANDS.put("commit", (client, fields) -> done(() -> client.producer().commitTransaction()));
        COMMANDS.put("abort", (client, fields) -> done(() -> client.producer().abortTransaction()));
        COMMANDS.put("consume", Members::consume);
        COMMANDS.put("consume_assigned", Members::consumeAssigned);
        COMMANDS.put("commit_offsets", (client, fields) -> done(() -> client.consumer().commitSync()));
        COMMANDS.put("committed", Members::committed);
    }

    private Members() {}

    private static Object done(Runnable work) {
        work.run();
        return null;
    }

    private static Object await(Client client, JsonNode fields) throws Exception {
        List<String> wanted = Driver.texts(fields, "events");
        long ends = System.nanoTime() + (long) (fields.get("seconds").asDouble() * 1e9);
        while (true) {
            for (int at = 0; at < client.events.size(); at++) {
                if (wanted.contains(client.events.get(at))) {
                    Object found = Map.of("event", client.events.get(at));
                    client.events.subList(0, at + 1).clear();
                    return found;
                }
            }
            if (System.nanoTime() > ends) {
                return Collections.singletonMap("event", null);
            }
            try {
                poll(client, MOMENT);
            } catch (KafkaException error) {
                return Map.of("event", "error", "error", Driver.failure(error));
            }
        }
    }

    private static void poll(Client client, Duration time) throws InterruptedException {
        if (!client.consumes()) {
            Thread.sleep(time.toMillis());
            return;
        }
        for (ConsumerRecord<String, String> record : client.consumer().poll(time)) {
            client.unread.add(record.value());
        }
    }

    private static Object produce(Client client, JsonNode fields) throws Exception {
        Integer partition = fields.hasNonNull("partition") ? fields.get("partition").asInt() : null;
        List<Future<RecordMetadata>> sent = new ArrayList<>();
        for (String value : Driver.texts(fields, "values")) {
            sent.add(
                    client.producer()
                            .send(new ProducerRecord<>(Driver.text(fields, "topic"), partition, null, value)));
        }
        List<Long> offsets = new ArrayList<>();
        for (Future<RecordMetadata> future : sent) {
            offsets.add(future.get().offset());
        }
        return Map.of("offsets", offsets);
    }

    private static Object begin(Client client, JsonNode fields) {
        if (!client.hasBegun) {
            client.producer().initTransactions();
            client.hasBegun = true;
        }
        client.producer().beginTransaction();
        return null;
    }

    private static Object sendOffsets(Client client, JsonNode fields) {
        TopicPartition partition = Groups.partition(fields);
        client.producer()
                .sendOffsetsToTransaction(
                        Map.of(partition, new OffsetAndMetadata(fields.get("offset").asLong())),
                        Release.groupMetadata(Driver.text(fields, "group")));
        return null;
    }

    private static Object consume(Client client, JsonNode fields) throws Exception {
        List<String> topics = Driver.texts(fields, "topics");
        if (!client.subscribed.equals(topics)) {
            client.consumer().subscribe(topics, client);
            client.subscribed = topics;
        }
        return read(client, fields);
    }

    private static Object consumeAssigned(Client client, JsonNode fields) throws Exception {
        List<String> partitions = Driver.texts(fields, "partitions");
        if (!client.subscribed.equals(partitions)) {
            client.consumer().assign(Groups.partitions(partitions).values());
            client.subscribed = partitions;
        }
        return read(client, fields);
    }

    private static Object read(Client client, JsonNode fields) throws Exception {
        long ends = System.nanoTime() + (long) (fields.get("seconds").asDouble() * 1e9);
        int count = fields.get("count").asInt();
        while (client.unread.size() < count && System.nanoTime() < ends) {
            poll(client, Duration.ofNanos(Math.max(ends - System.nanoTime(), 1)));
        }
        List<String> first = client.unread.subList(0, Math.min(count, client.unread.size()));
        List<String> values = List.copyOf(first);
        first.clear();
        return Map.of("values", values);
    }

    private static Object committed(Client client, JsonNode fields) throws Exception {
        Map<String, TopicPartition> asked = Groups.partitions(Driver.texts(fields, "partitions"));
        var found = client.consumer().committed(Set.copyOf(asked.values()));
        return Driver.items(asked.keySet(), name -> Groups.offset(found.get(asked.get(name))));
    }
}
