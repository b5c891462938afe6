package kafka.raft;

import java.lang.reflect.Proxy;
import org.apache.kafka.raft.LogOffsetMetadata;
import org.apache.kafka.raft.RaftLog;
import outside.Cluster;
import outside.Inside;

/** The metadata log: tests can only wait until every broker has read it. */
public class KafkaRaftManager<T> {
    private final Cluster cluster;

    public KafkaRaftManager(Cluster cluster) {
        this.cluster = cluster;
    }

    public RaftLog raftLog() {
        return (RaftLog) Proxy.newProxyInstance(
            RaftLog.class.getClassLoader(), new Class<?>[] {RaftLog.class}, (proxy, method, arguments) -> {
                if (!method.getName().equals("endOffset"))
                    throw new Inside("RaftLog." + method.getName());
                cluster.settle();
                return new LogOffsetMetadata(0);
            });
    }
}
