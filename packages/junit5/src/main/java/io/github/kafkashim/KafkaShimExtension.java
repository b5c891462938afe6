package io.github.kafkashim;

import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * A broker as a field: {@code @RegisterExtension KafkaShimExtension kafka = new KafkaShimExtension(settings)}. An instance
 * field gives each test a broker, a static field gives one to all tests of the class. Each class that inherits a static
 * field has a broker of its own, also if the classes run at the same time.
 */
public final class KafkaShimExtension
        implements BeforeAllCallback, BeforeEachCallback, AfterEachCallback, AfterAllCallback {
    private final BrokerSettings settings;
    private final Map<String, KafkaShimBroker> brokers = new ConcurrentHashMap<>(); // by unique id of a class or a test
    private final ThreadLocal<KafkaShimBroker> ofThread = new ThreadLocal<>();

    public KafkaShimExtension(BrokerSettings settings) {
        this.settings = settings;
    }

    /** Returns the broker of the running test; in a thread that the test started, only if there is no other broker. */
    public KafkaShimBroker broker() {
        KafkaShimBroker own = ofThread.get();
        if (own != null) {
            return own;
        }
        if (brokers.size() != 1) {
            throw new IllegalStateException(
                    brokers.isEmpty()
                            ? "no broker: it is started before the tests of a @RegisterExtension field"
                            : "several classes use this extension: call broker() in the thread of the test");
        }
        return brokers.values().iterator().next();
    }

    @Override
    public void beforeAll(ExtensionContext context) {
        useBroker(context);
    }

    @Override
    public void beforeEach(ExtensionContext context) {
        useBroker(context);
    }

    @Override
    public void afterEach(ExtensionContext context) {
        stop(context);
    }

    @Override
    public void afterAll(ExtensionContext context) {
        stop(context);
    }

    /** Uses the broker of this test or of a class around it, and starts one if there is none. */
    private void useBroker(ExtensionContext context) {
        ofThread.set(brokerAround(Optional.of(context)).orElseGet(() -> {
            KafkaShimBroker started = KafkaShimBroker.start(settings);
            brokers.put(context.getUniqueId(), started);
            return started;
        }));
    }

    private void stop(ExtensionContext context) {
        KafkaShimBroker own = brokers.remove(context.getUniqueId());
        if (own != null) {
            own.close();
        }
        brokerAround(context.getParent()).ifPresentOrElse(ofThread::set, ofThread::remove);
    }

    /** Returns the broker of the nearest test or class that has one. */
    private Optional<KafkaShimBroker> brokerAround(Optional<ExtensionContext> context) {
        return context.flatMap(each -> Optional.ofNullable(brokers.get(each.getUniqueId()))
                .or(() -> brokerAround(each.getParent())));
    }
}
