import java.util.Properties;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.serialization.SimpleStringSchema;
import org.apache.flink.connector.base.DeliveryGuarantee;
import org.apache.flink.connector.kafka.sink.KafkaRecordSerializationSchema;
import org.apache.flink.connector.kafka.sink.KafkaSink;
import org.apache.flink.connector.kafka.source.KafkaSource;
import org.apache.flink.connector.kafka.source.enumerator.initializer.OffsetsInitializer;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/** A Flink job copies the records of one topic to another; the argument is the guarantee. */
public class FlinkJob {
    public static void main(String[] arguments) throws Exception {
        String bootstrap = System.getenv("KAFKA_BOOTSTRAP_SERVERS");
        var settings = new Properties();
        settings.put("security.protocol", "SASL_PLAINTEXT");
        settings.put("sasl.mechanism", "PLAIN");
        settings.put("sasl.jaas.config", String.format(
            "org.apache.kafka.common.security.plain.PlainLoginModule required username=\"%s\" password=\"%s\";",
            System.getenv("KAFKA_USER"), System.getenv("KAFKA_PASSWORD")));
        settings.put("transaction.timeout.ms", "60000");
        settings.put("max.block.ms", "20000");
        var source = KafkaSource.<String>builder()
            .setBootstrapServers(bootstrap)
            .setTopics("orders")
            .setGroupId("billing")
            .setStartingOffsets(OffsetsInitializer.earliest())
            .setBounded(OffsetsInitializer.latest())
            .setValueOnlyDeserializer(new SimpleStringSchema())
            .setProperties(settings)
            .build();
        var sink = KafkaSink.<String>builder()
            .setBootstrapServers(bootstrap)
            .setKafkaProducerConfig(settings)
            .setDeliveryGuarantee(DeliveryGuarantee.valueOf(arguments[0]))
            .setTransactionalIdPrefix("billing-tx")
            .setRecordSerializer(KafkaRecordSerializationSchema.builder()
                .setTopic("invoices")
                .setValueSerializationSchema(new SimpleStringSchema())
                .build())
            .build();
        var environment = StreamExecutionEnvironment.createLocalEnvironment(1);
        environment.enableCheckpointing(500);
        environment.fromSource(source, WatermarkStrategy.noWatermarks(), "orders").sinkTo(sink);
        environment.execute();
        System.exit(0);
    }
}
