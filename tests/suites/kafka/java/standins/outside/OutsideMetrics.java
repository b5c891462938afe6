package outside;

import com.yammer.metrics.core.Gauge;
import com.yammer.metrics.core.MetricName;
import org.apache.kafka.server.metrics.KafkaYammerMetrics;

/** The metrics of brokers that can be told from outside, in the registry where tests look. */
final class OutsideMetrics {
    private static final MetricName EXPIRED = new MetricName("kafka.network", "Processor", "ExpiredConnectionsKilledCount");

    private OutsideMetrics() { }

    static void register(Cluster cluster) {
        KafkaYammerMetrics.defaultRegistry().newGauge(EXPIRED, new Gauge<Double>() {
            @Override
            public Double value() {
                return cluster.expired();
            }
        });
    }

    static void remove() {
        KafkaYammerMetrics.defaultRegistry().removeMetric(EXPIRED);
    }
}
