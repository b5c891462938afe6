package kafka.server;

import java.time.Duration;
import java.util.Map;
import java.util.Properties;
import kafka.network.SocketServer;
import org.apache.kafka.common.internals.Plugin;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.network.ListenerName;
import org.apache.kafka.common.security.token.delegation.internals.DelegationTokenCache;
import org.apache.kafka.coordinator.group.GroupConfigManager;
import org.apache.kafka.coordinator.group.GroupCoordinator;
import org.apache.kafka.metadata.BrokerState;
import org.apache.kafka.metadata.KRaftMetadataCache;
import org.apache.kafka.security.CredentialProvider;
import org.apache.kafka.server.BrokerLifecycleManager;
import org.apache.kafka.server.authorizer.Authorizer;
import org.apache.kafka.server.common.NodeToControllerChannelManager;
import org.apache.kafka.server.log.remote.storage.RemoteLogManager;
import org.apache.kafka.server.metrics.KafkaMetricsGroup;
import org.apache.kafka.server.metrics.KafkaYammerMetrics;
import org.apache.kafka.server.metrics.LinuxIoMetricsCollector;
import org.apache.kafka.server.util.Scheduler;
import org.apache.kafka.storage.internals.log.LogDirFailureChannel;
import org.apache.kafka.storage.log.metrics.BrokerTopicStats;
import outside.Cluster;
import outside.Inside;
import outside.Log;
import outside.OutsideCoordinator;
import outside.OutsideCredentials;
import outside.OutsideMetadata;
import outside.OutsideMetrics;
import outside.OutsideReplicas;
import outside.OutsideTokens;
import outside.Settings;
import scala.Option;

/** A broker in another process, with the state that clients can observe; all else throws `Inside`. */
public class BrokerServer extends Log implements KafkaBroker {
    private final SharedServer shared;
    private final Metrics metrics = OutsideMetrics.of(this::cluster);
    private boolean runs;
    private boolean wasStopped;

    public BrokerServer(SharedServer shared) {
        this.shared = shared;
    }

    @Override
    public synchronized void startup() {
        boolean isStartedByController = config().processRoles().size() > 1 && !wasStopped;
        if (!isStartedByController) {
            Properties settings = Settings.of(config(), shared.voters());
            Settings.addListener(config(), settings);
            cluster().start(config(), settings, true);
        }
        runs = true;
    }

    @Override
    public void shutdown() {
        shutdown(Duration.ofMinutes(5));
    }

    @Override
    public synchronized void shutdown(Duration timeout) {
        if (!runs)
            return;
        runs = false;
        wasStopped = true;
        cluster().stop(config().nodeId());
    }

    @Override
    public void awaitShutdown() { }

    @Override
    public synchronized boolean isShutdown() {
        return !runs;
    }

    @Override
    public BrokerState brokerState() {
        if (!isShutdown())
            return BrokerState.RUNNING;
        return wasStopped ? BrokerState.SHUTTING_DOWN : BrokerState.NOT_RUNNING;
    }

    @Override
    public int boundPort(ListenerName listener) {
        Map<String, String> ports = cluster().ports(config().nodeId());
        return Integer.parseInt(ports.getOrDefault(listener.value().toUpperCase(), "-1"));
    }

    @Override
    public SocketServer socketServer() {
        return new SocketServer(this::boundPort);
    }

    @Override
    public KafkaConfig config() {
        return shared.brokerConfig();
    }

    @Override
    public String clusterId() {
        return shared.clusterId();
    }

    public SharedServer sharedServer() {
        return shared;
    }

    @Override
    public KRaftMetadataCache metadataCache() {
        return new OutsideMetadata(cluster(), config().nodeId());
    }

    @Override
    public KafkaApis dataPlaneRequestProcessor() {
        return new KafkaApis(this);
    }

    @Override
    public Option<Plugin<Authorizer>> authorizerPlugin() {
        return ControllerServer.authorizer(config(), cluster(), shared.metrics());
    }

    @Override
    public Metrics metrics() {
        return metrics;
    }

    private Cluster cluster() {
        return shared.cluster();
    }

    @Override
    public CredentialProvider credentialProvider() {
        return new OutsideCredentials(cluster());
    }

    @Override
    public KafkaRequestHandlerPool dataPlaneRequestHandlerPool() {
        throw new Inside("dataPlaneRequestHandlerPool");
    }

    @Override
    public Scheduler kafkaScheduler() {
        throw new Inside("kafkaScheduler");
    }

    @Override
    public KafkaYammerMetrics kafkaYammerMetrics() {
        throw new Inside("kafkaYammerMetrics");
    }

    @Override
    public LogDirFailureChannel logDirFailureChannel() {
        throw new Inside("logDirFailureChannel");
    }

    @Override
    public kafka.log.LogManager logManager() {
        return new OutsideReplicas(cluster(), config()).logs();
    }

    @Override
    public Option<RemoteLogManager> remoteLogManagerOpt() {
        throw new Inside("remoteLogManagerOpt");
    }

    @Override
    public QuotaFactory.QuotaManagers quotaManagers() {
        throw new Inside("quotaManagers");
    }

    @Override
    public ReplicaManager replicaManager() {
        return new OutsideReplicas(cluster(), config()).replicas();
    }

    @Override
    public GroupCoordinator groupCoordinator() {
        return OutsideCoordinator.of(config());
    }

    public GroupConfigManager groupConfigManager() {
        throw new Inside("groupConfigManager");
    }

    @Override
    public BrokerTopicStats brokerTopicStats() {
        throw new Inside("brokerTopicStats");
    }

    @Override
    public NodeToControllerChannelManager clientToControllerChannelManager() {
        throw new Inside("clientToControllerChannelManager");
    }

    @Override
    public DelegationTokenCache tokenCache() {
        return new OutsideTokens(cluster(), config());
    }

    @Override
    public BrokerLifecycleManager lifecycleManager() {
        throw new Inside("lifecycleManager");
    }

    @Override
    public int NumFetchSessionCacheShards() {
        throw new Inside("NumFetchSessionCacheShards");
    }

    @Override
    public KafkaMetricsGroup kafka$server$KafkaBroker$$metricsGroup() {
        throw new Inside("metricsGroup");
    }

    @Override
    public LinuxIoMetricsCollector kafka$server$KafkaBroker$$linuxIoMetricsCollector() {
        throw new Inside("linuxIoMetricsCollector");
    }

    @Override
    public void kafka$server$KafkaBroker$_setter_$NumFetchSessionCacheShards_$eq(int value) { }

    @Override
    public void kafka$server$KafkaBroker$_setter_$kafka$server$KafkaBroker$$metricsGroup_$eq(KafkaMetricsGroup value) { }

    @Override
    public void kafka$server$KafkaBroker$_setter_$kafka$server$KafkaBroker$$linuxIoMetricsCollector_$eq(
        LinuxIoMetricsCollector value) { }
}
