package outside;

import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import kafka.server.KafkaConfig;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;

/** A cluster in other processes; nodes are identified by their ids. */
public final class Cluster {
    private static final Map<String, Cluster> CLUSTERS = new ConcurrentHashMap<>();

    private final String id;
    private final Set<Integer> nodes = ConcurrentHashMap.newKeySet();
    private final Set<Integer> brokers = ConcurrentHashMap.newKeySet();
    private Admin admin;

    private Cluster(String id) {
        this.id = id;
    }

    public static Cluster of(String id) {
        return CLUSTERS.computeIfAbsent(id, Cluster::new);
    }

    /** Starts a node, or passes the settings with which the other process will start it on first use. */
    public void start(KafkaConfig config, Properties settings, boolean isBroker) {
        endOthers(this);
        settings.setProperty("outside.cluster", Settings.clusterId(id));
        nodes.add(config.nodeId());
        Launcher.call("start", settings);  // nodes wait for one another
        if (isBroker)
            brokers.add(config.nodeId());
        OutsideMetrics.register(this);
    }

    /** Stops nodes that a test left running because it failed in its preparation. */
    private static synchronized void endOthers(Cluster own) {
        CLUSTERS.values().stream().filter(other -> other != own && !other.nodes.isEmpty()).forEach(Cluster::end);
    }

    /** Stops a node; with the last node, removes the cluster. */
    public synchronized void stop(int node) {
        if (!nodes.remove(node))
            return;
        brokers.remove(node);
        if (brokers.isEmpty())
            closeAdmin();
        Launcher.call("stop", named(node));
        if (nodes.isEmpty())
            end();
    }

    private synchronized void end() {
        nodes.clear();
        brokers.clear();
        closeAdmin();
        CLUSTERS.remove(id);
        OutsideMetrics.remove();
        Launcher.call("end", new Properties());
    }

    private void closeAdmin() {
        if (admin != null)
            admin.close();
        admin = null;
    }

    /** Returns the ports of a node's listeners by name. */
    public Map<String, String> ports(int node) {
        Properties found = Launcher.call("ports", named(node));
        Map<String, String> ports = new ConcurrentHashMap<>();
        found.forEach((name, port) -> ports.put((String) name, (String) port));
        return ports;
    }

    /** Waits until every broker has applied the controller's metadata. */
    public void settle() {
        Launcher.call("settle", new Properties());
    }

    /** Returns an upper limit of the connections that brokers closed because of expired log-ins. */
    public double expired() {
        return closed("expired");
    }

    /** Returns an upper limit of the connections that brokers closed after a failed re-authentication. */
    public double failedAgain() {
        return closed("failed");
    }

    private static double closed(String why) {
        return Double.parseDouble(Launcher.call("closed", new Properties()).getProperty(why));
    }

    /** Returns an admin client that is a super user. */
    public synchronized Admin admin() {
        if (admin == null) {
            int broker = brokers.stream().findFirst().orElseThrow(() -> new IllegalStateException("no broker runs"));
            String port = ports(broker).get(Settings.LISTENER);
            admin = Admin.create(Map.of(
                "bootstrap.servers", "localhost:" + port, "client.id", "outside",
                "enable.metrics.push", "false", "metric.reporters", ""));
        }
        return admin;
    }

    /** Returns the current description of a topic; null if it does not exist. */
    public TopicDescription topic(String name) {
        settle();
        try {
            return admin().describeTopics(Set.of(name)).topicNameValues().get(name).get();
        } catch (Exception error) {
            if (error.getCause() instanceof UnknownTopicOrPartitionException)
                return null;
            throw new IllegalStateException(error);
        }
    }

    private static Properties named(int node) {
        Properties named = new Properties();
        named.setProperty("node.id", Integer.toString(node));
        return named;
    }
}
