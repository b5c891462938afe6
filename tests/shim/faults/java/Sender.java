import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.Metric;
import org.apache.kafka.common.MetricName;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * Executes commands from standard input and prints one line for each: "ok", or the class of the
 * exception. Its arguments are settings of all clients, key=value.
 */
public final class Sender {
    private static final List<String> GROUPS =
        List.of("producer-metrics", "consumer-fetch-manager-metrics");
    private final Properties common = new Properties();
    private KafkaProducer<byte[], byte[]> producer;
    private KafkaConsumer<byte[], byte[]> consumer;

    public static void main(String[] settings) throws Exception {
        Sender sender = new Sender();
        for (String setting : settings) {
            put(sender.common, setting);
        }
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            System.out.println(sender.answer(line.split(" ")));
            System.out.flush();
        }
    }

    private static void put(Properties properties, String setting) {
        int at = setting.indexOf('=');
        properties.setProperty(setting.substring(0, at), setting.substring(at + 1));
    }

    private String answer(String[] words) {
        try {
            return carryOut(words);
        } catch (ExecutionException wrapped) {
            return wrapped.getCause().getClass().getSimpleName();
        } catch (Exception refused) {
            return refused.getClass().getSimpleName();
        }
    }

    private String carryOut(String[] words) throws Exception {
        switch (words[0]) {
            case "producer":
                close();
                producer = new KafkaProducer<>(
                    with(words), new ByteArraySerializer(), new ByteArraySerializer());
                return "ok";
            case "consumer":
                close();
                consumer = new KafkaConsumer<>(
                    with(words), new ByteArrayDeserializer(), new ByteArrayDeserializer());
                consumer.subscribe(List.of("orders"));
                return "ok";
            case "send":
                producer.send(new ProducerRecord<>("orders", value(words)))
                    .get(30, TimeUnit.SECONDS);
                return "ok";
            case "init":
                producer.initTransactions();
                return "ok";
            case "begin":
                producer.beginTransaction();
                return "ok";
            case "commit":
                producer.commitTransaction();
                return "ok";
            case "poll":
                return poll();
            case "metric":
                return metric(words[1]);
            default:
                throw new IllegalArgumentException(words[0]);
        }
    }

    /** Returns one byte, or the number of bytes in the command. */
    private static byte[] value(String[] words) {
        byte[] value = new byte[words.length == 1 ? 1 : Integer.parseInt(words[1])];
        Arrays.fill(value, (byte) 49);
        return value;
    }

    /** Polls until there are records; returns their number. */
    private String poll() {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        while (System.nanoTime() < end) {
            int count = consumer.poll(Duration.ofMillis(100)).count();
            if (count > 0) {
                return Integer.toString(count);
            }
        }
        return "0";
    }

    private String metric(String name) {
        Map<MetricName, ? extends Metric> metrics =
            producer == null ? consumer.metrics() : producer.metrics();
        return metrics.entrySet().stream()
            .filter(entry -> entry.getKey().name().equals(name))
            .filter(entry -> GROUPS.contains(entry.getKey().group()))
            .filter(entry -> !entry.getKey().tags().containsKey("topic"))
            .map(entry -> entry.getValue().metricValue().toString())
            .findFirst().orElse("none");
    }

    private Properties with(String[] words) {
        Properties properties = new Properties();
        properties.putAll(common);
        for (int at = 1; at < words.length; at++) {
            put(properties, words[at]);
        }
        return properties;
    }

    private void close() {
        if (producer != null) {
            producer.close(Duration.ZERO);
        }
        if (consumer != null) {
            consumer.close(CloseOptions.timeout(Duration.ZERO));
        }
        producer = null;
        consumer = null;
    }
}
