import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.*;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.*;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.errors.UnknownServerException;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.serialization.StringSerializer;

/** The driver of Kafka's own clients: reads commands and writes answers, one line of JSON each. */
public final class Driver {
    static final ObjectMapper JSON = new ObjectMapper();

    private static final Map<String, Client> CLIENTS = new HashMap<>();
    private static final Map<String, Command> COMMANDS = new TreeMap<>();

    /** Executes a command with its client; the returned value becomes `ok`. */
    interface Command {
        Object run(Client client, JsonNode fields) throws Exception;
    }

    /** Returns the result for one of several names, or throws its error. */
    interface Outcome<T> {
        Object of(T name) throws Exception;
    }

    /** The client does not support the command. */
    static final class Unsupported extends Exception {
        private static final long serialVersionUID = 1L;
    }

    static {
        COMMANDS.put("open", Driver::open);
        COMMANDS.put("close", (client, fields) -> CLIENTS.remove(text(fields, "client")).close());
        COMMANDS.putAll(Members.COMMANDS);
        COMMANDS.putAll(Topics.COMMANDS);
        COMMANDS.putAll(Access.COMMANDS);
        COMMANDS.putAll(Groups.COMMANDS);
        COMMANDS.putAll(Release.COMMANDS);
    }

    private Driver() {}

    public static void main(String[] words) throws Exception {
        PrintStream answers =
                new PrintStream(new FileOutputStream(FileDescriptor.out), true, StandardCharsets.UTF_8);
        System.setOut(System.err); // so that other output is not read as an answer
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            JsonNode asked = JSON.readTree(line);
            ObjectNode answer = JSON.createObjectNode().put("id", asked.get("id").asLong());
            answer(asked, answer);
            answers.println(answer);
        }
        System.exit(0);
    }

    private static void answer(JsonNode asked, ObjectNode answer) {
        Command command = COMMANDS.get(text(asked, "command"));
        try {
            if (text(asked, "command").equals("hello")) {
                answer.set("ok", JSON.valueToTree(hello()));
            } else if (command == null) {
                answer.put("unsupported", true);
            } else {
                Object found = command.run(CLIENTS.get(text(asked, "client")), asked);
                answer.set("ok", JSON.valueToTree(found == null ? Map.of() : found));
            }
        } catch (Unsupported unsupported) {
            answer.put("unsupported", true);
        } catch (Exception error) {
            answer.set("error", JSON.valueToTree(failure(error)));
        }
    }

    private static Object hello() throws Exception {
        Properties client = new Properties();
        try (var file = Driver.class.getResourceAsStream("/kafka/kafka-version.properties")) {
            client.load(file);
        }
        // load classes before the first command, whose time is limited
        Map<String, Object> nowhere = Map.of("bootstrap.servers", "127.0.0.1:1");
        Admin.create(nowhere).close(Duration.ZERO);
        new KafkaProducer<>(nowhere, new StringSerializer(), new StringSerializer()).close(Duration.ZERO);
        Map<String, Object> found = new TreeMap<>();
        found.put("name", "Java");
        found.put("version", client.getProperty("version"));
        found.put("commands", COMMANDS.keySet());
        found.put("capabilities", Release.CAPABILITIES);
        return found;
    }

    private static Object open(Client none, JsonNode fields) throws Exception {
        CLIENTS.put(text(fields, "client"), new Client(fields));
        return null;
    }

    /** Reports an error of a client, with the code of its class or of the first cause that has one. */
    static Map<String, Object> failure(Throwable error) {
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
        boolean isKnown = found != Errors.UNKNOWN_SERVER_ERROR || error instanceof UnknownServerException;
        return isKnown ? found.code() : null;
    }

    /** Returns the outcome for each name, an object or an error, as the `items` of an answer. */
    static <T> Map<String, Object> items(Collection<T> names, Outcome<T> outcome) throws Unsupported {
        Map<String, Object> found = new TreeMap<>();
        for (T name : names) {
            try {
                Object told = outcome.of(name);
                found.put(name.toString(), told == null ? Map.of() : told);
            } catch (Unsupported unsupported) {
                throw unsupported;
            } catch (Exception error) {
                found.put(name.toString(), failure(error));
            }
        }
        return Map.of("items", found);
    }

    /** Returns the errors of futures as items; results are ignored. */
    static Map<String, Object> items(Map<?, ? extends KafkaFuture<?>> futures) throws Unsupported {
        return items(futures.keySet(), name -> {
            futures.get(name).get();
            return null;
        });
    }

    static String text(JsonNode fields, String name) {
        JsonNode found = fields.get(name);
        return found == null || found.isNull() ? null : found.asText();
    }

    static List<String> texts(JsonNode fields, String name) {
        List<String> found = new ArrayList<>();
        fields.get(name).forEach(value -> found.add(value.asText()));
        return found;
    }

    /** Returns a field that is an object of texts or numbers, sorted by name. */
    static Map<String, String> pairs(JsonNode fields, String name) {
        Map<String, String> found = new TreeMap<>();
        if (fields.hasNonNull(name)) {
            fields.get(name)
                    .properties()
                    .forEach(
                            pair -> found.put(pair.getKey(), pair.getValue().isNull() ? null : pair.getValue().asText()));
        }
        return found;
    }
}
