import java.io.IOException;
import java.time.Duration;
import java.util.*;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.errors.UnknownServerException;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.serialization.StringSerializer;

/** The driver of Kafka's own clients. */
public final class Driver {
    private static final Map<String, Client> CLIENTS = new HashMap<>();

    private Driver() {}

    public static void main(String[] words) throws Throwable {
        Loop loop =
                new Loop(
                        Client.class, Driver.class, Members.class, Topics.class, Access.class,
                        Groups.class, Release.class);
        Map<String, Object> hello = new TreeMap<>();
        hello.put("name", "Java");
        hello.put("version", version());
        hello.put("commands", loop.commands());
        hello.put("capabilities", Release.CAPABILITIES);
        loop.serve(hello, CLIENTS, Driver::failure);
    }

    private static String version() throws IOException {
        // load classes before the first command, whose time is limited
        Map<String, Object> nowhere = Map.of("bootstrap.servers", "127.0.0.1:1");
        Admin.create(nowhere).close(Duration.ZERO);
        StringSerializer texts = new StringSerializer();
        new KafkaProducer<>(nowhere, texts, texts).close(Duration.ZERO);
        Properties client = new Properties();
        try (var file = Driver.class.getResourceAsStream("/kafka/kafka-version.properties")) {
            client.load(file);
        }
        return client.getProperty("version");
    }

    static Object open(Client none, Loop.Fields fields) throws Exception {
        CLIENTS.put(fields.text("client"), new Client(fields));
        return null;
    }

    static Object close(Client client, Loop.Fields fields) throws Exception {
        CLIENTS.remove(fields.text("client")).close();
        return null;
    }

    /** Reports an error of a client, with the code of its class or of the first cause with one. */
    private static Object failure(Throwable error) {
        Throwable shown = error instanceof ExecutionException ? error.getCause() : error;
        Throwable cause = shown;
        while (code(cause) == null && cause.getCause() != null) {
            cause = cause.getCause();
        }
        Throwable known = code(cause) == null ? shown : cause;
        Map<String, Object> found = new TreeMap<>();
        found.put("class", known.getClass().getSimpleName());
        found.put("code", code(known));
        found.put("text", String.valueOf(shown.getMessage()));
        found.put("retriable", known instanceof RetriableException);
        return found;
    }

    private static Short code(Throwable error) {
        Errors found = Errors.forException(error);
        boolean isUnknown = found == Errors.UNKNOWN_SERVER_ERROR;
        return isUnknown && !(error instanceof UnknownServerException) ? null : found.code();
    }

    /** Returns the errors of futures as items; results are ignored. */
    static Object items(Map<?, ? extends KafkaFuture<?>> futures) throws Loop.Unsupported {
        return Loop.items(futures.keySet(), name -> {
            futures.get(name).get();
            return null;
        });
    }

    static Map<String, TopicPartition> partitions(Loop.Fields fields) {
        Map<String, TopicPartition> found = new LinkedHashMap<>();
        for (String name : fields.texts("partitions")) {
            int at = name.lastIndexOf('-');
            int number = Integer.parseInt(name.substring(at + 1));
            found.put(name, new TopicPartition(name.substring(0, at), number));
        }
        return found;
    }

    static TopicPartition partition(Loop.Fields fields) {
        return new TopicPartition(fields.text("topic"), (int) fields.number("partition"));
    }
}
