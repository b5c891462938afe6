package outside;

import com.yammer.metrics.core.Gauge;
import com.yammer.metrics.core.MetricName;
import java.util.AbstractMap;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import org.apache.kafka.common.metrics.KafkaMetric;
import org.apache.kafka.common.metrics.Measurable;
import org.apache.kafka.common.metrics.MetricConfig;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.server.metrics.KafkaYammerMetrics;
import org.mockito.Mockito;
import org.mockito.invocation.InvocationOnMock;

/** Metrics of brokers that can be computed outside, in the registry that tests read. */
public final class OutsideMetrics {
    private static final MetricName EXPIRED = new MetricName("kafka.network", "Processor", "ExpiredConnectionsKilledCount");

    private OutsideMetrics() { }

    /** A broker's metrics: clients cannot read them, but some can be computed in another way. */
    public static Metrics of(Supplier<Cluster> cluster) {
        return Mockito.mock(Metrics.class, (InvocationOnMock call) -> {
            if (call.getMethod().getName().equals("metrics"))
                return new Counted(cluster);
            throw new Inside("metrics");
        });
    }

    /** All computed metrics: a test may iterate over them, but not look one up. */
    private static final class Counted extends AbstractMap<org.apache.kafka.common.MetricName, KafkaMetric> {
        private final Supplier<Cluster> cluster;

        Counted(Supplier<Cluster> cluster) {
            this.cluster = cluster;
        }

        @Override
        public Collection<KafkaMetric> values() {
            return List.of(
                metric("expired-connections-killed-count", (config, now) -> cluster.get().expired()),
                metric("failed-reauthentication-total", (config, now) -> cluster.get().failedAgain()),
                metric("failed-authentication-total", Counted::unseen),
                metric("successful-authentication-total", Counted::unseen));
        }

        @Override
        public Set<Map.Entry<org.apache.kafka.common.MetricName, KafkaMetric>> entrySet() {
            throw new Inside("metrics");
        }

        private static KafkaMetric metric(String name, Measurable value) {
            var full = new org.apache.kafka.common.MetricName(name, "socket-server-metrics", "", Map.of());
            return new KafkaMetric(new Object(), full, value, new MetricConfig(), Time.SYSTEM);
        }

        private static double unseen(MetricConfig config, long now) {
            throw new Inside("metrics");
        }
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
