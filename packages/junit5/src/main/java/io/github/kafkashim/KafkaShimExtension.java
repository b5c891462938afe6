package io.github.kafkashim;

import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * A broker as a field: {@code @RegisterExtension KafkaShimExtension kafka = new KafkaShimExtension(settings)}. An instance
 * field gives each test a broker, a static field gives one to all tests of the class.
 */
public final class KafkaShimExtension
        implements BeforeAllCallback, BeforeEachCallback, AfterEachCallback, AfterAllCallback {
    private final BrokerSettings settings;
    private volatile KafkaShimBroker broker;
    private volatile String ownerId; // of the class or test for which the broker was started

    public KafkaShimExtension(BrokerSettings settings) {
        this.settings = settings;
    }

    public KafkaShimBroker broker() {
        if (broker == null) {
            throw new IllegalStateException("no broker: it is started before the tests of a @RegisterExtension field");
        }
        return broker;
    }

    @Override
    public void beforeAll(ExtensionContext context) {
        startUnlessRunning(context);
    }

    @Override
    public void beforeEach(ExtensionContext context) {
        startUnlessRunning(context);
    }

    @Override
    public void afterEach(ExtensionContext context) {
        stopIfOwner(context);
    }

    @Override
    public void afterAll(ExtensionContext context) {
        stopIfOwner(context);
    }

    private void startUnlessRunning(ExtensionContext context) {
        if (broker == null) {
            ownerId = context.getUniqueId();
            broker = KafkaShimBroker.start(settings);
        }
    }

    private void stopIfOwner(ExtensionContext context) {
        if (broker != null && context.getUniqueId().equals(ownerId)) {
            broker.close();
            broker = null;
        }
    }
}
