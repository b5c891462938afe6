package io.github.kafkashim;

import java.util.Optional;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ExtensionContext.Store;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolutionException;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.junit.platform.commons.support.AnnotationSupport;

/** The brokers of {@link KafkaShim}. A store of JUnit belongs to a class or a test, and shows those of enclosing ones. */
final class AnnotatedBrokers
        implements BeforeAllCallback, BeforeEachCallback, AfterEachCallback, AfterAllCallback, ParameterResolver {
    @Override
    public void beforeAll(ExtensionContext context) {
        annotation(context).filter(KafkaShim::perClass).ifPresent(annotation -> start(context, annotation));
    }

    @Override
    public void beforeEach(ExtensionContext context) {
        annotation(context).ifPresentOrElse(annotation -> start(context, annotation), () -> startOfClass(context));
        store(context).get(KafkaShimBroker.class, KafkaShimBroker.class).newReport(); // of earlier tests
    }

    /** Starts a broker for the test unless the nearest class with an annotation has one. */
    private static void startOfClass(ExtensionContext test) {
        var parent = test.getParent();
        while (parent.isPresent() && annotation(parent.get()).isEmpty()) {
            parent = parent.get().getParent();
        }
        parent.flatMap(AnnotatedBrokers::annotation)
                .filter(annotation -> !annotation.perClass())
                .ifPresent(annotation -> start(test, annotation));
    }

    @Override
    public void afterEach(ExtensionContext context) {
        KafkaShimBroker.afterTest(context, store(context).get(KafkaShimBroker.class, KafkaShimBroker.class));
        stop(context);
    }

    @Override
    public void afterAll(ExtensionContext context) {
        stop(context);
    }

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        return parameter.getParameter().getType() == KafkaShimBroker.class;
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
        KafkaShimBroker broker = store(context).get(KafkaShimBroker.class, KafkaShimBroker.class);
        if (broker == null) {
            throw new ParameterResolutionException(
                    "no broker yet: each test has its own; for one in @BeforeAll, write @KafkaShim(perClass = true)");
        }
        return broker;
    }

    private static void start(ExtensionContext context, KafkaShim annotation) {
        store(context).put(KafkaShimBroker.class, KafkaShimBroker.start(BrokerSettings.of(annotation)));
    }

    private static void stop(ExtensionContext context) {
        KafkaShimBroker own = store(context).remove(KafkaShimBroker.class, KafkaShimBroker.class);
        if (own != null) {
            own.close();
        }
    }

    private static Store store(ExtensionContext context) {
        return context.getStore(Namespace.create(AnnotatedBrokers.class));
    }

    private static Optional<KafkaShim> annotation(ExtensionContext context) {
        return AnnotationSupport.findAnnotation(context.getElement(), KafkaShim.class);
    }
}
