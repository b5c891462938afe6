package kafka.server;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.util.Properties;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import kafka.network.SocketServer;
import org.apache.kafka.common.internals.Plugin;
import org.apache.kafka.common.metadata.FeatureLevelRecord;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.controller.Controller;
import org.apache.kafka.metadata.KafkaConfigSchema;
import org.apache.kafka.metadata.bootstrap.BootstrapDirectory;
import org.apache.kafka.metadata.bootstrap.BootstrapMetadata;
import org.apache.kafka.server.authorizer.Authorizer;
import org.apache.kafka.server.common.ApiMessageAndVersion;
import outside.Cluster;
import outside.Inside;
import outside.Log;
import outside.OutsideAuthorizer;
import outside.OutsideController;
import outside.Settings;
import scala.Option;

/** A controller in another process. */
public class ControllerServer extends Log {
    private final SharedServer shared;
    private final BootstrapMetadata bootstrap;
    private final CompletableFuture<Integer> port = new CompletableFuture<>();

    public ControllerServer(SharedServer shared, KafkaConfigSchema schema, BootstrapMetadata bootstrap) {
        this.shared = shared;
        this.bootstrap = bootstrap;
    }

    public void startup() {
        String listener = config().controllerListenerNames().get(0);
        port.complete(freePort(listener));
        Properties settings = Settings.of(config(), shared.voters());
        settings.setProperty("listeners", Stream.of(settings.getProperty("listeners").split(","))
            .map(text -> text.startsWith(listener + ":") ? text.replaceFirst(":0$", ":" + port.join()) : text)
            .collect(Collectors.joining(",")));
        for (ApiMessageAndVersion record : bootstrap.records())
            if (record.message() instanceof FeatureLevelRecord level)
                settings.setProperty("outside.feature." + level.name(), Short.toString(level.featureLevel()));
        writeBootstrap();
        boolean isBroker = config().processRoles().size() > 1;
        if (isBroker)
            Settings.addListener(config(), settings);
        cluster().start(config(), settings, isBroker);
    }

    public void shutdown() {
        cluster().stop(config().nodeId());
    }

    public void awaitShutdown() { }

    public KafkaConfig config() {
        return shared.controllerConfig();
    }

    public String clusterId() {
        return shared.clusterId();
    }

    public SharedServer sharedServer() {
        return shared;
    }

    public BootstrapMetadata bootstrapMetadata() {
        return bootstrap;
    }

    public Metrics metrics() {
        return shared.metrics();
    }

    public CompletableFuture<Integer> socketServerFirstBoundPortFuture() {
        return port;
    }

    public SocketServer socketServer() {
        return new SocketServer(listener -> port.join());
    }

    public kafka.raft.KafkaRaftManager<ApiMessageAndVersion> raftManager() {
        return shared.raftManager();
    }

    public Controller controller() {
        return OutsideController.of(cluster());
    }

    public Option<Plugin<Authorizer>> authorizerPlugin() {
        return authorizer(config(), cluster(), metrics());
    }

    public QuotaFactory.QuotaManagers quotaManagers() {
        throw new Inside("ControllerServer.quotaManagers");
    }

    static Option<Plugin<Authorizer>> authorizer(KafkaConfig config, Cluster cluster, Metrics metrics) {
        if (config.getString("authorizer.class.name").isEmpty())
            return Option.empty();
        return Option.apply(Plugin.wrapInstance(new OutsideAuthorizer(cluster), metrics, "authorizer.class.name"));
    }

    private Cluster cluster() {
        return shared.cluster();
    }

    /** Writes the bootstrap metadata records to the file that the other process reads. */
    private void writeBootstrap() {
        try {
            new BootstrapDirectory(config().metadataLogDir()).writeBinaryFile(bootstrap);
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }

    /** Returns the port that the harness has chosen for a listener, or a free one, not bound here. */
    private int freePort(String listener) {
        try (ServerSocketChannel channel =
                shared.socketFactory().openServerSocket(listener, new InetSocketAddress(0), -1, -1)) {
            return channel.socket().getLocalPort();
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }
}
