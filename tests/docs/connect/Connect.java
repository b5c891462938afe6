import java.io.FileReader;
import java.util.Properties;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.StringSerializer;

/** Sends a record with each file of properties, and prints that it was delivered. */
public final class Connect {
    private Connect() { }

    public static void main(String[] files) throws Exception {
        for (String file : files) {
            Properties settings = new Properties();
            try (FileReader reader = new FileReader(file)) {
                settings.load(reader);
            }
            StringSerializer text = new StringSerializer();
            try (KafkaProducer<String, String> producer = new KafkaProducer<>(settings, text, text)) {
                producer.send(new ProducerRecord<>("orders", file)).get();
                System.out.println("delivered " + file);
            }
        }
    }
}
