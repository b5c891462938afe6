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

    private Members() {}

    static Object setLogin(Client client, Loop.Fields fields) {
        client.setLogin(fields.at("login"));
        return null;
    }

    static Object wait(Client client, Loop.Fields fields) throws Exception {
        List<String> wanted = fields.texts("events");
        long ends = System.nanoTime() + fields.nanos("seconds");
        while (Collections.disjoint(client.events, wanted)) {
            if (System.nanoTime() > ends) {
                return Collections.singletonMap("event", null);
            }
            try {
                poll(client, MOMENT);
            } catch (KafkaException error) {
                return Map.of("event", "error", "error", error);
            }
        }
        String event = client.events.remove(0);
        while (!wanted.contains(event)) { // what happened before is forgotten
            event = client.events.remove(0);
        }
        return Map.of("event", event);
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

    static Object produce(Client client, Loop.Fields fields) throws Exception {
        String topic = fields.text("topic");
        Integer partition = fields.has("partition") ? (int) fields.number("partition") : null;
        List<Future<RecordMetadata>> sent = new ArrayList<>();
        for (String value : fields.texts("values")) {
            sent.add(client.producer().send(new ProducerRecord<>(topic, partition, null, value)));
        }
        List<Long> offsets = new ArrayList<>();
        for (Future<RecordMetadata> future : sent) {
            offsets.add(future.get().offset());
        }
        return Map.of("offsets", offsets);
    }

    static Object produceToSeveral(Client client, Loop.Fields fields) throws Exception {
        Map<String, Future<RecordMetadata>> sent = new LinkedHashMap<>();
        for (String topic : fields.texts("topics")) {
            var record = new ProducerRecord<String, String>(topic, fields.text("value"));
            sent.put(topic, client.producer().send(record));
        }
        return Loop.items(
                sent.keySet(), name -> Map.of("offset", sent.get(name).get().offset()));
    }

    static Object begin(Client client, Loop.Fields fields) {
        if (!client.hasBegun) {
            client.producer().initTransactions();
            client.hasBegun = true;
        }
        client.producer().beginTransaction();
        return null;
    }

    static Object sendOffsets(Client client, Loop.Fields fields) {
        var offset = new OffsetAndMetadata(fields.number("offset"));
        var offsets = Map.of(Driver.partition(fields), offset);
        var group = Release.groupMetadata(fields.text("group"));
        client.producer().sendOffsetsToTransaction(offsets, group);
        return null;
    }

    static Object commit(Client client, Loop.Fields fields) {
        client.producer().commitTransaction();
        return null;
    }

    static Object abort(Client client, Loop.Fields fields) {
        client.producer().abortTransaction();
        return null;
    }

    static Object consume(Client client, Loop.Fields fields) throws Exception {
        List<String> topics = fields.texts("topics");
        if (!client.subscribed.equals(topics)) {
            client.consumer().subscribe(topics, client);
            client.subscribed = topics;
        }
        return read(client, fields);
    }

    static Object consumeAssigned(Client client, Loop.Fields fields) throws Exception {
        List<String> partitions = fields.texts("partitions");
        if (!client.subscribed.equals(partitions)) {
            client.consumer().assign(Driver.partitions(fields).values());
            client.subscribed = partitions;
        }
        return read(client, fields);
    }

    private static Object read(Client client, Loop.Fields fields) throws Exception {
        long ends = System.nanoTime() + fields.nanos("seconds");
        long count = fields.number("count");
        while (client.unread.size() < count && System.nanoTime() < ends) {
            poll(client, Duration.ofNanos(Math.max(ends - System.nanoTime(), 1)));
        }
        List<String> values = client.unread.stream().limit(count).toList();
        client.unread.subList(0, values.size()).clear();
        return Map.of("values", values);
    }

    static Object commitOffsets(Client client, Loop.Fields fields) {
        client.consumer().commitSync();
        return null;
    }

    static Object committed(Client client, Loop.Fields fields) throws Exception {
        Map<String, TopicPartition> asked = Driver.partitions(fields);
        var found = client.consumer().committed(Set.copyOf(asked.values()));
        return Loop.items(asked.keySet(), name -> Groups.offset(found.get(asked.get(name))));
    }
}
