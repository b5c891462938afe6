package kafka.server;

import java.net.InetSocketAddress;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.image.loader.MetadataLoader;
import org.apache.kafka.metadata.properties.MetaPropertiesEnsemble;
import org.apache.kafka.server.ServerSocketFactory;
import org.apache.kafka.server.common.ApiMessageAndVersion;
import outside.Cluster;
import outside.Log;
import outside.Settings;

/** The common part of a node's broker and controller in another process: its settings. */
public class SharedServer extends Log {
    private static final String UNSTABLE = "unstable.api.versions.enable";
    private final KafkaConfig config;
    private final MetaPropertiesEnsemble properties;
    private final Metrics metrics;
    private final CompletableFuture<Map<Integer, InetSocketAddress>> voters;
    private final ServerSocketFactory sockets;

    public SharedServer(
            KafkaConfig config, MetaPropertiesEnsemble properties, Time time, Metrics metrics,
            CompletableFuture<Map<Integer, InetSocketAddress>> voters,
            Collection<InetSocketAddress> bootstrapServers,
            FaultHandlerFactory faultHandlers, ServerSocketFactory sockets) {
        this.config = stable(config);
        this.properties = properties;
        this.metrics = metrics;
        this.voters = voters;
        this.sockets = sockets;
    }

    /** Disables unstable API versions, which harnesses enable but users of a release do not have. */
    private static KafkaConfig stable(KafkaConfig config) {
        Map<String, Object> settings = new HashMap<>(config.originals());
        return settings.remove(UNSTABLE) == null ? config : new KafkaConfig(settings, false);
    }

    Cluster cluster() {
        return Cluster.of(properties.clusterId().get());
    }

    /** Returns `controller.quorum.voters`, after the controllers have their ports. */
    String voters() {
        StringBuilder found = new StringBuilder();
        voters.join().forEach((id, address) -> found.append(found.isEmpty() ? "" : ",")
            .append(id).append("@localhost:").append(address.getPort()));
        return found.toString();
    }

    public String clusterId() {
        return Settings.clusterId(properties.clusterId().get());
    }

    public int nodeId() {
        return config.nodeId();
    }

    public KafkaConfig brokerConfig() {
        return config;
    }

    public KafkaConfig controllerConfig() {
        return config;
    }

    public MetaPropertiesEnsemble metaPropsEnsemble() {
        return properties;
    }

    public Metrics metrics() {
        return metrics;
    }

    public ServerSocketFactory socketFactory() {
        return sockets;
    }

    public MetadataLoader loader() {
        return new MetadataLoader();
    }

    public kafka.raft.KafkaRaftManager<ApiMessageAndVersion> raftManager() {
        return new kafka.raft.KafkaRaftManager<>(cluster());
    }

    public void stopForBroker() { }

    public void stopForController() { }
}
