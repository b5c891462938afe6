package outside;

import com.yammer.metrics.core.Gauge;
import com.yammer.metrics.core.MetricName;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.server.metrics.KafkaYammerMetrics;
import org.mockito.Mockito;
import org.mockito.invocation.InvocationOnMock;

/** The metrics of brokers that can be told from outside, in the registry where tests look. */
public final class OutsideMetrics {
    private static final MetricName EXPIRED = new MetricName("kafka.network", "Processor", "ExpiredConnectionsKilledCount");

    private OutsideMetrics() { }

    /** A broker's own metrics, which no client sees. */
    public static Metrics unseen() {
        return Mockito.mock(Metrics.class, (InvocationOnMock call) -> {
            throw new Inside("metrics");
        });
    }

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
