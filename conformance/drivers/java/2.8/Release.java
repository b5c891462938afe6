import java.time.Duration;
import java.util.*;
import org.apache.kafka.clients.admin.*;
import org.apache.kafka.clients.consumer.*;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;

/** Replaces features that the newest clients have and 2.8 lacks, or has by another name. */
final class Release {
    static final List<String> CAPABILITIES =
            List.of(
                    "plain", "scram", "oauthbearer", "delegation-tokens", "tls", "reauthentication",
                    "idempotence", "transactions", "classic-groups", "static-members",
                    "authorized-operations", "prefixed-acls");

    private Release() {}

    static Map<String, KafkaFuture<Void>> deleteTopics(Admin admin, List<String> names) {
        return admin.deleteTopics(names).values();
    }

    static Map<String, KafkaFuture<TopicDescription>> describeTopics(
            Admin admin, List<String> names, DescribeTopicsOptions options) {
        return admin.describeTopics(names, options).values();
    }

    static List<String> groups(Admin admin) throws Exception {
        var found = admin.listConsumerGroups().all().get();
        return found.stream().map(ConsumerGroupListing::groupId).toList();
    }

    static KafkaFuture<Map<TopicPartition, OffsetAndMetadata>> groupOffsets(
            Admin admin, String group, List<TopicPartition> partitions) {
        var asked = new ListConsumerGroupOffsetsOptions().topicPartitions(partitions);
        return admin.listConsumerGroupOffsets(group, asked).partitionsToOffsetAndMetadata();
    }

    static CreateDelegationTokenOptions tokenOptions(String owner) throws Loop.Unsupported {
        if (owner != null) {
            throw new Loop.Unsupported();
        }
        return new CreateDelegationTokenOptions();
    }

    static ConsumerGroupMetadata groupMetadata(String group) {
        return new ConsumerGroupMetadata(group);
    }

    static void close(Consumer<?, ?> consumer, Duration time) {
        consumer.close(time);
    }
}
