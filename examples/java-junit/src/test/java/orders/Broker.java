package orders;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.Map;

/** The broker that `kafka-shim run` has started: where it is, and its control API. */
final class Broker {
    private static final String CONTROL = System.getenv("KAFKA_SHIM_CONTROL_URL");
    private static final HttpClient HTTP = HttpClient.newHttpClient();
    private static final ObjectMapper JSON = new ObjectMapper();

    private Broker() {}

    /** What a client needs to log in as a user of broker.yaml. */
    static Map<String, Object> settings(String user) {
        return Map.of(
                "bootstrap.servers", System.getenv("KAFKA_BOOTSTRAP_SERVERS_SASL_PLAINTEXT"),
                "security.protocol", "SASL_PLAINTEXT",
                "sasl.mechanism", "PLAIN",
                "sasl.jaas.config",
                        "org.apache.kafka.common.security.plain.PlainLoginModule required username=\""
                                + user + "\" password=\"" + user + "-secret\";");
    }

    static JsonNode get(String path) throws IOException, InterruptedException {
        return answer(HttpRequest.newBuilder(URI.create(CONTROL + path)).build());
    }

    static JsonNode post(String path, String body) throws IOException, InterruptedException {
        URI uri = URI.create(CONTROL + path);
        return answer(HttpRequest.newBuilder(uri).POST(BodyPublishers.ofString(body)).build());
    }

    private static JsonNode answer(HttpRequest request) throws IOException, InterruptedException {
        HttpResponse<String> response = HTTP.send(request, BodyHandlers.ofString());
        if (response.statusCode() != 200) {
            throw new IOException(request.uri() + ": " + response.body());
        }
        return JSON.readTree(response.body());
    }
}
