import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.metrics.KafkaMetric;
import org.apache.kafka.common.metrics.MetricsReporter;
import org.apache.kafka.server.authorizer.AuthorizableRequestContext;
import org.apache.kafka.server.telemetry.ClientTelemetry;
import org.apache.kafka.server.telemetry.ClientTelemetryPayload;
import org.apache.kafka.server.telemetry.ClientTelemetryReceiver;

/**
 * A metric reporter with which a broker accepts client metrics (KIP-714): prints a line for each
 * push, and fails if the metrics are the word "refuse".
 */
public class MetricsReceiver implements MetricsReporter, ClientTelemetry {
    @Override
    public ClientTelemetryReceiver clientReceiver() {
        return MetricsReceiver::print;
    }

    private static void print(AuthorizableRequestContext context, ClientTelemetryPayload payload) {
        ByteBuffer data = payload.data();
        String text = StandardCharsets.UTF_8.decode(data.duplicate()).toString();
        System.out.printf(
                "pushed %s by %s, %s, %d bytes of %s%n",
                payload.clientInstanceId(),
                context.principal(),
                payload.isTerminating() ? "terminating" : "going on",
                data.remaining(),
                payload.contentType());
        System.out.flush();
        if (text.equals("refuse")) {
            throw new IllegalArgumentException("these metrics are refused");
        }
    }

    @Override
    public void init(List<KafkaMetric> metrics) {}

    @Override
    public void metricChange(KafkaMetric metric) {}

    @Override
    public void metricRemoval(KafkaMetric metric) {}

    @Override
    public void close() {}

    @Override
    public void configure(Map<String, ?> configs) {}
}
