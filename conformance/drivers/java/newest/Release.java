import java.time.Duration;
import java.util.*;
import org.apache.kafka.clients.admin.*;
import org.apache.kafka.clients.consumer.*;
import org.apache.kafka.common.*;
import org.apache.kafka.common.serialization.StringDeserializer;

/** Features that 2.8 lacks, or has by another name. */
final class Release {
    static final List<String> CAPABILITIES =
            List.of(
                    "plain", "scram", "oauthbearer", "delegation-tokens", "tls", "reauthentication",
                    "idempotence", "transactions", "classic-groups", "consumer-groups",
                    "static-members", "share-groups", "authorized-operations", "prefixed-acls",
                    "rebootstrap");

    /** Settings of consumers that a share consumer rejects. */
    private static final List<String> NOT_SHARED =
            List.of(
                    "auto.offset.reset", "enable.auto.commit", "isolation.level",
                    "group.instance.id", "group.protocol", "session.timeout.ms",
                    "heartbeat.interval.ms");

    private Release() {}

    static Map<String, KafkaFuture<Void>> deleteTopics(Admin admin, List<String> names) {
        return admin.deleteTopics(names).topicNameValues();
    }

    static Map<String, KafkaFuture<TopicDescription>> describeTopics(
            Admin admin, List<String> names, DescribeTopicsOptions options) {
        return admin.describeTopics(names, options).topicNameValues();
    }

    static List<String> groups(Admin admin) throws Exception {
        return admin.listGroups().all().get().stream().map(GroupListing::groupId).toList();
    }

    static KafkaFuture<Map<TopicPartition, OffsetAndMetadata>> groupOffsets(
            Admin admin, String group, List<TopicPartition> partitions) {
        var asked = Map.of(group, new ListConsumerGroupOffsetsSpec().topicPartitions(partitions));
        return admin.listConsumerGroupOffsets(asked).partitionsToOffsetAndMetadata(group);
    }

    static CreateDelegationTokenOptions tokenOptions(String owner) {
        CreateDelegationTokenOptions options = new CreateDelegationTokenOptions();
        return owner == null ? options : options.owner(Access.principal(owner));
    }

    @SuppressWarnings("removal") // deprecated: normally a consumer returns the metadata
    static ConsumerGroupMetadata groupMetadata(String group) {
        return new ConsumerGroupMetadata(group);
    }

    static void close(Consumer<?, ?> consumer, Duration time) {
        consumer.close(CloseOptions.timeout(time));
    }

    static Object consumeShare(Client client, Loop.Fields fields) throws Exception {
        KafkaShareConsumer<String, String> consumer = client.member(Release::shareConsumer);
        List<String> topics = fields.texts("topics");
        if (!client.subscribed.equals(topics)) {
            consumer.subscribe(topics);
            client.subscribed = topics;
        }
        List<String> values = new ArrayList<>();
        long ends = System.nanoTime() + fields.nanos("seconds");
        while (values.size() < fields.number("count") && System.nanoTime() < ends) {
            var time = Duration.ofNanos(Math.max(ends - System.nanoTime(), 1));
            consumer.poll(time).forEach(record -> values.add(record.value()));
        }
        for (var failed : consumer.commitSync().values()) {
            if (failed.isPresent()) {
                throw new KafkaException(failed.get());
            }
        }
        return Map.of("values", values);
    }

    private static KafkaShareConsumer<String, String> shareConsumer(Client client) {
        Map<String, Object> settings = new HashMap<>(client.settings);
        settings.keySet().removeAll(NOT_SHARED);
        StringDeserializer texts = new StringDeserializer();
        return new KafkaShareConsumer<>(settings, texts, texts);
    }
}
