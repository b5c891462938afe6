package orders;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.Map;
import java.util.Optional;

/**
 * A broker of a test's own, in one kafka-shim process for the whole run. Copy this file; it needs
 * jackson-databind. It uses the process of `kafka-shim run`, if there is one, or else starts one with
 * the command in KAFKA_SHIM (default: kafka-shim on the PATH), which ends with this JVM.
 */
final class KafkaShim implements AutoCloseable {
    private static final HttpClient HTTP = HttpClient.newHttpClient();
    private static final ObjectMapper JSON = new ObjectMapper();
    private static String control; // the URL of the control API
    private static Process process; // kept: when its standard input is closed, it stops

    private final JsonNode broker;

    private KafkaShim(JsonNode broker) {
        this.broker = broker;
    }

    /** Creates a broker. The settings are the body of POST /brokers: users, topics, acls and so on. */
    static KafkaShim create(String settings) throws IOException, InterruptedException {
        return new KafkaShim(ask("POST", "/brokers", settings));
    }

    /** Returns settings for a client that does not log in and may do everything. */
    Map<String, Object> settings() {
        return Map.of("bootstrap.servers", servers("PLAINTEXT"));
    }

    /** Returns settings for a client that logs in as this user. */
    Map<String, Object> settings(String user, String password) {
        String module = "org.apache.kafka.common.security.plain.PlainLoginModule";
        return Map.of(
                "bootstrap.servers", servers("SASL_PLAINTEXT"),
                "security.protocol", "SASL_PLAINTEXT",
                "sasl.mechanism", "PLAIN",
                "sasl.jaas.config",
                        "%s required username=\"%s\" password=\"%s\";".formatted(module, user, password));
    }

    String servers(String listener) {
        return broker.get("bootstrap_servers").get(listener).asText();
    }

    /** Calls the control API of this broker: get("/topics"). */
    JsonNode get(String path) throws IOException, InterruptedException {
        return ask("GET", broker.get("path").asText() + path, "");
    }

    /** Sends a body: post("/reset", "") resets the broker to the state in which it was created. */
    JsonNode post(String path, String body) throws IOException, InterruptedException {
        return ask("POST", broker.get("path").asText() + path, body);
    }

    /** Removes the broker. */
    @Override
    public void close() throws IOException, InterruptedException {
        ask("DELETE", broker.get("path").asText(), "");
    }

    private static JsonNode ask(String method, String path, String body)
            throws IOException, InterruptedException {
        var request = HttpRequest.newBuilder(URI.create(control() + path));
        request.method(method, BodyPublishers.ofString(body));
        var response = HTTP.send(request.build(), BodyHandlers.ofString());
        if (response.statusCode() != 200) {
            throw new IOException(method + " " + path + ": " + response.body());
        }
        return JSON.readTree(response.body());
    }

    private static synchronized String control() throws IOException, InterruptedException {
        if (control == null) {
            String running = System.getenv("KAFKA_SHIM_CONTROL_URL");
            control = running != null ? running : start();
        }
        return control;
    }

    /** Starts a process, waits until it is ready, and returns the URL of its control API. */
    private static String start() throws IOException, InterruptedException {
        String command = Optional.ofNullable(System.getenv("KAFKA_SHIM")).orElse("kafka-shim");
        process = new ProcessBuilder(
                        command, "serve", "--listener", "PLAINTEXT://127.0.0.1:0",
                        "--control", "127.0.0.1:0", "--log-level", "warn", "--stop-with-stdin")
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        BufferedReader output = process.inputReader();
        String url = null;
        for (String line = output.readLine(); line != null; line = output.readLine()) {
            if (line.startsWith("control on ")) {
                url = line.substring("control on ".length());
            } else if (line.startsWith("[KafkaServer")) {
                return url;
            }
        }
        throw new IOException(command + " ended with exit code " + process.waitFor());
    }
}
