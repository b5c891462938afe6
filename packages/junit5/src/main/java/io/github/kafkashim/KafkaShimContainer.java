package io.github.kafkashim;

import java.util.Map;
import java.util.UUID;
import java.util.function.IntFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.wait.strategy.Wait;
import org.testcontainers.utility.DockerImageName;

/**
 * The image in Testcontainers, which your project brings. Clients connect to mapped ports, which are known only when the
 * container runs, so the broker is created then, over the control API.
 */
public final class KafkaShimContainer extends GenericContainer<KafkaShimContainer> {
    private static final int CONTROL_PORT = 8082;
    private static final Map<String, Integer> LISTENERS = Map.of("PLAINTEXT", 9092, "SASL_PLAINTEXT", 9093);

    private final String token = UUID.randomUUID().toString();
    private BrokerSettings settings = new BrokerSettings();
    private KafkaShimBroker broker;

    public KafkaShimContainer() {
        this("ghcr.io/kafka-shim/kafka-shim:0.1.0");
    }

    public KafkaShimContainer(String image) {
        super(DockerImageName.parse(image));
        addExposedPort(CONTROL_PORT);
        LISTENERS.values().forEach(this::addExposedPort);
        withCommand(
                "serve", "--listener", "PLAINTEXT://127.0.0.1:0",
                "--control", "0.0.0.0:" + CONTROL_PORT, "--control-token", token);
        waitingFor(Wait.forHttp("/health").forPort(CONTROL_PORT));
    }

    /** Starts the broker with these settings: its release, users, topics, ACLs and faults. */
    public KafkaShimContainer withSettings(BrokerSettings settings) {
        this.settings = settings;
        return this;
    }

    /** Returns the broker; closing the container ends it. */
    public KafkaShimBroker broker() {
        if (broker == null) {
            throw new IllegalStateException("the container is not started");
        }
        return broker;
    }

    /** Returns the address of the listener PLAINTEXT, where every client may do everything. */
    public String getBootstrapServers() {
        return broker().getBootstrapServers();
    }

    @Override
    public void start() {
        super.start();
        settings.set("listeners", urls(port -> "0.0.0.0:" + port).toList());
        settings.property("advertised.listeners", urls(this::address).collect(Collectors.joining(",")));
        broker = new KafkaShimBroker(new ControlApi("http://" + address(CONTROL_PORT), token), settings);
    }

    private String address(int port) {
        return getHost() + ":" + getMappedPort(port);
    }

    private static Stream<String> urls(IntFunction<String> address) {
        return LISTENERS.entrySet().stream().map(entry -> entry.getKey() + "://" + address.apply(entry.getValue()));
    }
}
