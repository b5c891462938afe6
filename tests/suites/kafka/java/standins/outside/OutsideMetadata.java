package outside;

import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.ListTopicsOptions;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.clients.admin.TopicListing;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.network.ListenerName;
import org.apache.kafka.metadata.KRaftMetadataCache;
import org.apache.kafka.metadata.LeaderAndIsr;
import org.apache.kafka.server.common.KRaftVersion;

/** A broker's metadata cache with the state of topics and brokers that a client can read. */
public class OutsideMetadata extends KRaftMetadataCache {
    private final Cluster cluster;

    public OutsideMetadata(Cluster cluster, int broker) {
        super(broker, () -> KRaftVersion.KRAFT_VERSION_0);
        this.cluster = cluster;
    }

    @Override
    public Optional<Integer> numPartitions(String topic) {
        return Optional.ofNullable(cluster.topic(topic)).map(found -> found.partitions().size());
    }

    @Override
    public boolean contains(String topic) {
        return cluster.topic(topic) != null;
    }

    @Override
    public boolean contains(TopicPartition partition) {
        return numPartitions(partition.topic()).orElse(0) > partition.partition();
    }

    @Override
    public Uuid getTopicId(String topic) {
        return topicNamesToIds().getOrDefault(topic, Uuid.ZERO_UUID);
    }

    @Override
    public Optional<LeaderAndIsr> getLeaderAndIsr(String topic, int partition) {
        TopicDescription found = cluster.topic(topic);
        if (found == null || found.partitions().size() <= partition)
            return Optional.empty();
        var part = found.partitions().get(partition);
        List<Integer> isr = part.isr().stream().map(Node::id).collect(Collectors.toList());
        return Optional.of(new LeaderAndIsr(part.leader() == null ? -1 : part.leader().id(), isr));
    }

    @Override
    public Optional<Node> getPartitionLeaderEndpoint(String topic, int partition, ListenerName listener) {
        return getLeaderAndIsr(topic, partition).map(LeaderAndIsr::leader).filter(leader -> leader >= 0)
            .map(leader -> new Node(leader, "localhost", port(leader, listener)));
    }

    private int port(int broker, ListenerName listener) {
        return Integer.parseInt(cluster.ports(broker).getOrDefault(listener.value().toUpperCase(), "-1"));
    }

    @Override
    public Set<String> getAllTopics() {
        return new HashSet<>(topicNamesToIds().keySet());
    }

    @Override
    public Map<String, Uuid> topicNamesToIds() {
        cluster.settle();
        try {
            var all = new ListTopicsOptions().listInternal(true);
            return cluster.admin().listTopics(all).listings().get().stream()
                .collect(Collectors.toMap(TopicListing::name, TopicListing::topicId));
        } catch (Exception error) {
            throw new IllegalStateException(error);
        }
    }

    @Override
    public Map<Uuid, String> topicIdsToNames() {
        return topicNamesToIds().entrySet().stream()
            .collect(Collectors.toMap(Map.Entry::getValue, Map.Entry::getKey));
    }

    @Override
    public boolean hasAliveBroker(int broker) {
        return alive().stream().anyMatch(id -> id == broker);
    }

    /** Returns the running brokers that have the listener, with its ports. */
    @Override
    public List<Node> getAliveBrokerNodes(ListenerName listener) {
        return alive().stream().map(id -> new Node(id, "localhost", port(id, listener)))
            .filter(node -> node.port() >= 0).collect(Collectors.toList());
    }

    private List<Integer> alive() {
        try {
            return cluster.admin().describeCluster().nodes().get().stream().map(Node::id).collect(Collectors.toList());
        } catch (Exception error) {
            throw new IllegalStateException(error);
        }
    }
}
