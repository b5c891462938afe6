import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import com.yammer.metrics.core.Gauge;
import java.io.IOException;
import java.io.StringReader;
import java.io.StringWriter;
import java.lang.reflect.Field;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.Executors;
import javax.security.auth.login.Configuration;
import kafka.server.BrokerServer;
import kafka.server.ControllerServer;
import kafka.server.KafkaConfig;
import kafka.server.KafkaRaftServer;
import org.apache.kafka.common.network.ListenerName;
import org.apache.kafka.common.utils.Exit;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.server.metrics.KafkaYammerMetrics;
import scala.Option;

/**
 * Runs real Kafka nodes in one process, started and stopped over HTTP, since a new process for each
 * test would take many times as long. Requests and responses are Java properties.
 */
public final class RealHost {
    private static final String LOGIN = "java.security.auth.login.config";
    private static final long SETTLE_SECONDS = 30;
    /** The time to stop without a quorum: a broker waits for the controller, by default for minutes. */
    private static final Duration WITHOUT_QUORUM = Duration.ofSeconds(1);

    private final Map<Integer, KafkaRaftServer> nodes = new ConcurrentSkipListMap<>();
    private final Map<Integer, Properties> ports = new ConcurrentHashMap<>();
    private final Set<Integer> controllers = ConcurrentHashMap.newKeySet();

    public static void main(String[] arguments) throws IOException {
        Exit.setExitProcedure((code, message) -> {
            throw new IllegalStateException("exit " + code + ": " + message);
        });
        Exit.setHaltProcedure((code, message) -> {
            throw new IllegalStateException("halt " + code + ": " + message);
        });
        RealHost host = new RealHost();
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
        server.setExecutor(Executors.newCachedThreadPool());
        server.createContext("/", host::answer);
        server.start();
        System.out.println(server.getAddress().getPort());
        System.in.read();  // exit when standard input ends
        System.exit(0);
    }

    private void answer(HttpExchange exchange) throws IOException {
        int status = 200;
        String text;
        try {
            Properties given = new Properties();
            given.load(new StringReader(new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8)));
            StringWriter found = new StringWriter();
            call(exchange.getRequestURI().getPath().substring(1), given).store(found, null);
            text = found.toString();
        } catch (Throwable error) {
            status = 500;
            text = String.valueOf(error) + (error.getCause() == null ? "" : ", because of " + error.getCause());
        }
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        exchange.sendResponseHeaders(status, bytes.length);
        exchange.getResponseBody().write(bytes);
        exchange.close();
    }

    private Properties call(String command, Properties given) throws Exception {
        switch (command) {
            case "start" -> start(given);
            case "stop" -> stop(id(given));
            case "ports" -> {
                return ports.getOrDefault(id(given), new Properties());
            }
            case "closed" -> {
                return closed();
            }
            case "settle" -> settle();
            case "end" -> end();
            default -> throw new IllegalArgumentException("no command " + command);
        }
        return new Properties();
    }

    private static int id(Properties given) {
        return Integer.parseInt(given.getProperty("node.id", given.getProperty("broker.id")));
    }

    private void start(Properties given) throws Exception {
        login((String) given.remove("outside.jaas"));
        given.keySet().removeIf(key -> ((String) key).startsWith("outside."));
        if (!given.containsKey("log.dirs") && given.containsKey("metadata.log.dir"))
            given.setProperty("log.dirs", given.getProperty("metadata.log.dir"));
        Properties before = ports.get(id(given));
        if (before != null)
            given.setProperty("listeners", atPorts(given.getProperty("listeners"), before));
        KafkaRaftServer node = new KafkaRaftServer(KafkaConfig.fromProps(given), Time.SYSTEM);
        nodes.put(id(given), node);
        if (!controller(node).isEmpty())
            controllers.add(id(given));
        node.startup();
        ports.put(id(given), bound(node));
    }

    private static void login(String path) {
        if (path == null)
            System.clearProperty(LOGIN);
        else
            System.setProperty(LOGIN, path);
        Configuration.setConfiguration(null);
    }

    /** Returns listeners with the previous ports, so that clients find a restarted node. */
    private static String atPorts(String listeners, Properties before) {
        List<String> found = new ArrayList<>();
        for (String listener : listeners.split(","))
            found.add(listener.replaceFirst(":0$", ":" + before.getProperty(listener.split(":")[0], "0")));
        return String.join(",", found);
    }

    private static Properties bound(KafkaRaftServer node) throws Exception {
        Properties found = new Properties();
        for (BrokerServer broker : broker(node))
            for (var listener : scala.jdk.javaapi.CollectionConverters.asJava(broker.config().dataPlaneListeners()))
                found.setProperty(listener.listener(), Integer.toString(broker.boundPort(new ListenerName(listener.listener()))));
        for (ControllerServer controller : controller(node))
            found.setProperty(
                controller.config().controllerListenerNames().get(0),
                controller.socketServerFirstBoundPortFuture().get().toString());
        return found;
    }

    private void stop(int id) {
        boolean isLed = 2 * nodes.values().stream().filter(each -> !controller(each).isEmpty()).count() > controllers.size();
        KafkaRaftServer node = nodes.remove(id);
        if (node == null)
            return;
        if (!isLed)
            broker(node).forEach(broker -> broker.shutdown(WITHOUT_QUORUM));
        node.shutdown();
    }

    /** Waits until all brokers have read the records of the controllers. */
    private void settle() throws InterruptedException {
        long written = 0;
        for (KafkaRaftServer node : nodes.values())
            for (ControllerServer controller : controller(node))
                written = Math.max(written, controller.raftManager().raftLog().highWatermark().offset());
        long deadline = System.nanoTime() + SETTLE_SECONDS * 1_000_000_000L;
        for (KafkaRaftServer node : nodes.values())
            for (BrokerServer broker : broker(node))
                while (broker.sharedServer().loader().lastAppliedOffset() < written - 1) {
                    if (System.nanoTime() > deadline)
                        throw new IllegalStateException("the brokers do not read all metadata");
                    Thread.sleep(5);
                }
    }

    /** Returns sums of the brokers' metrics that count closed connections by their cause. */
    private Properties closed() {
        double expired = 0;
        for (var metric : KafkaYammerMetrics.defaultRegistry().allMetrics().entrySet())
            if (metric.getKey().getName().equals("ExpiredConnectionsKilledCount"))
                expired += ((Number) ((Gauge<?>) metric.getValue()).value()).doubleValue();
        double failed = 0;
        for (KafkaRaftServer node : nodes.values())
            for (BrokerServer broker : broker(node))
                for (var metric : broker.metrics().metrics().values())
                    if (metric.metricName().name().equals("failed-reauthentication-total"))
                        failed += (Double) metric.metricValue();
        Properties found = new Properties();
        found.setProperty("expired", Double.toString(expired));
        found.setProperty("failed", Double.toString(failed));
        return found;
    }

    private void end() {
        List<Integer> controllersLast = new ArrayList<>(nodes.keySet());
        controllersLast.sort((one, other) -> Boolean.compare(
            controller(nodes.get(one)).isEmpty() ? false : true, controller(nodes.get(other)).isEmpty() ? false : true));
        controllersLast.forEach(this::stop);
        ports.clear();
        controllers.clear();
        var registry = KafkaYammerMetrics.defaultRegistry();
        registry.allMetrics().keySet().forEach(registry::removeMetric);
    }

    private static Collection<BrokerServer> broker(KafkaRaftServer node) {
        return part(node, "broker");
    }

    private static Collection<ControllerServer> controller(KafkaRaftServer node) {
        return part(node, "controller");
    }

    @SuppressWarnings("unchecked")
    private static <T> Collection<T> part(KafkaRaftServer node, String name) {
        try {
            Field field = KafkaRaftServer.class.getDeclaredField(name);
            field.setAccessible(true);
            Option<T> found = (Option<T>) field.get(node);
            return found.isEmpty() ? List.of() : List.of(found.get());
        } catch (ReflectiveOperationException error) {
            throw new IllegalStateException(error);
        }
    }
}
