package outside;

import java.io.File;
import java.util.List;
import java.util.Optional;
import kafka.cluster.Partition;
import kafka.log.LogManager;
import kafka.server.KafkaConfig;
import kafka.server.ReplicaManager;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.TopicPartitionInfo;
import org.apache.kafka.storage.internals.log.UnifiedLog;
import org.mockito.Mockito;
import org.mockito.invocation.InvocationOnMock;
import scala.Option;
import scala.jdk.javaapi.CollectionConverters;

/** The partitions that a broker has and leads, for which harnesses wait before and after tests. */
public final class OutsideReplicas {
    private final Cluster cluster;
    private final KafkaConfig config;

    public OutsideReplicas(Cluster cluster, KafkaConfig config) {
        this.cluster = cluster;
        this.config = config;
    }

    public ReplicaManager replicas() {
        return Mockito.mock(ReplicaManager.class, (InvocationOnMock call) ->
            switch (call.getMethod().getName()) {
                case "onlinePartition" -> option(hosted(call.getArgument(0)).map(this::partition));
                default -> throw inside(call);
            });
    }

    public LogManager logs() {
        return Mockito.mock(LogManager.class, (InvocationOnMock call) ->
            switch (call.getMethod().getName()) {
                case "getLog" -> option(hosted(call.getArgument(0)).map(found -> log()));
                case "getLog$default$2" -> false;
                case "liveLogDirs" -> CollectionConverters.asScala(config.logDirs().stream().map(File::new).toList()).toSeq();
                default -> throw inside(call);
            });
    }

    /** Returns the current state of a partition if this broker has a replica. */
    private Optional<TopicPartitionInfo> hosted(TopicPartition partition) {
        TopicDescription topic = cluster.topic(partition.topic());
        List<TopicPartitionInfo> all = topic == null ? List.of() : topic.partitions();
        return all.stream()
            .filter(found -> found.partition() == partition.partition())
            .filter(found -> found.replicas().stream().anyMatch(node -> node.id() == config.nodeId()))
            .findFirst();
    }

    private Partition partition(TopicPartitionInfo found) {
        Optional<Integer> leader = Optional.ofNullable(found.leader()).map(node -> node.id());
        return Mockito.mock(Partition.class, (InvocationOnMock call) ->
            switch (call.getMethod().getName()) {
                case "leaderReplicaIdOpt" -> option(leader);
                case "leaderIdIfLocal" -> option(leader.filter(id -> id == config.nodeId()));
                case "leaderLogIfLocal" -> option(leader.filter(id -> id == config.nodeId()).map(id -> log()));
                default -> throw inside(call);
            });
    }

    private static UnifiedLog log() {
        return Mockito.mock(UnifiedLog.class, (InvocationOnMock call) -> {
            throw inside(call);
        });
    }

    private static <T> Option<T> option(Optional<T> found) {
        return Option.apply(found.orElse(null));
    }

    private static Inside inside(InvocationOnMock call) {
        return new Inside(call.getMethod().getDeclaringClass().getSimpleName() + "." + call.getMethod().getName());
    }
}
