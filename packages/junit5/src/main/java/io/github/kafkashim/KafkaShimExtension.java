package io.github.kafkashim;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ExtensionContext.Store;

/**
 * A broker as a field: {@code @RegisterExtension KafkaShimExtension kafka = new KafkaShimExtension(settings)}. An instance
 * field gives each test a broker, a static field gives one to all tests of the class. Each class that inherits a static
 * field has a broker of its own, also if the classes run at the same time.
 */
public final class KafkaShimExtension
        implements BeforeAllCallback, BeforeEachCallback, AfterEachCallback, AfterAllCallback {
    private final BrokerSettings settings;
    private final Set<KafkaShimBroker> running = ConcurrentHashMap.newKeySet();
    private final ThreadLocal<KafkaShimBroker> ofThread = new ThreadLocal<>();

    public KafkaShimExtension(BrokerSettings settings) {
        this.settings = settings;
    }

    /** Returns the broker of the running test; in a thread that the test started, only if there is no other broker. */
    public KafkaShimBroker broker() {
        if (ofThread.get() == null && running.size() != 1) {
            throw new IllegalStateException("%d brokers: a @RegisterExtension field has one in the thread of a test"
                    .formatted(running.size()));
        }
        return ofThread.get() == null ? running.iterator().next() : ofThread.get();
    }

    @Override
    public void beforeAll(ExtensionContext context) {
        ofThread.set(store(context).getOrComputeIfAbsent(this, key -> start(), KafkaShimBroker.class));
    }

    @Override
    public void beforeEach(ExtensionContext context) {
        beforeAll(context);
        ofThread.get().newReport(); // of earlier tests
    }

    @Override
    public void afterEach(ExtensionContext context) {
        KafkaShimBroker.afterTest(context, ofThread.get());
        afterAll(context);
    }

    @Override
    public void afterAll(ExtensionContext context) {
        KafkaShimBroker own = store(context).remove(this, KafkaShimBroker.class);
        if (own != null) {
            running.remove(own);
            own.close();
        }
        ofThread.set(store(context).get(this, KafkaShimBroker.class)); // that of a class around this one
    }

    private KafkaShimBroker start() {
        KafkaShimBroker started = KafkaShimBroker.start(settings);
        running.add(started);
        return started;
    }

    private static Store store(ExtensionContext context) {
        return context.getStore(Namespace.create(KafkaShimExtension.class));
    }
}
