package orders;

import java.util.ArrayDeque;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.errors.AuthorizationException;
import org.apache.kafka.common.serialization.StringSerializer;

/** What is tested: a small publisher of orders. */
public final class Publisher implements AutoCloseable {
    static final String TOPIC = "orders";

    private final KafkaProducer<String, String> producer;

    public Publisher(Map<String, Object> settings) {
        producer = new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer());
    }

    /** Returns once the order is stored. */
    public void publish(String order)
            throws NotAllowedException, ExecutionException, InterruptedException {
        try {
            producer.send(new ProducerRecord<>(TOPIC, order)).get();
        } catch (ExecutionException error) {
            if (error.getCause() instanceof AuthorizationException denied) {
                throw new NotAllowedException("this service may not write to " + TOPIC, denied);
            }
            throw error;
        }
    }

    /** Publishes until permission is missing; the orders that are left. */
    public List<String> publishAll(Collection<String> orders)
            throws ExecutionException, InterruptedException {
        Queue<String> left = new ArrayDeque<>(orders);
        try {
            while (!left.isEmpty()) {
                publish(left.element());
                left.remove();
            }
        } catch (NotAllowedException denied) {
            return List.copyOf(left);
        }
        return List.of();
    }

    @Override
    public void close() {
        producer.close();
    }
}
