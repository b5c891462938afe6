package io.github.kafkashim;

import org.junit.jupiter.api.extension.ExtensionContext;

/** Denials and refused authentications of a broker, printed with a failed test. */
final class DenialReports {
    private DenialReports() {}

    /** Leaves out what earlier tests did with a broker of several tests. */
    static void begin(KafkaShimBroker broker) {
        if (broker != null) {
            broker.newReport();
        }
    }

    /** Prints what the broker denied during the test if the test has failed. */
    static void end(ExtensionContext test, KafkaShimBroker broker) {
        if (broker == null || test.getExecutionException().isEmpty()) {
            return;
        }
        try {
            String report = broker.newReport();
            if (!report.isEmpty()) {
                System.err.printf("%s: %s%n", test.getDisplayName(), report);
            }
        } catch (RuntimeException error) { // such as a broker that the test has closed: the failure of the test says more
            System.err.printf("%s: the denials are unknown: %s%n", test.getDisplayName(), error.getMessage());
        }
    }
}
