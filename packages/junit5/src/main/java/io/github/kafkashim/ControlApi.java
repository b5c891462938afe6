package io.github.kafkashim;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;

/** The HTTP API of a kafka-shim process; the token is null or empty if it has none. */
record ControlApi(String url, String token) {
    private static final HttpClient HTTP = HttpClient.newHttpClient();
    private static final System.Logger LOG = System.getLogger("kafka-shim");
    static final ObjectMapper JSON = new ObjectMapper();
    private static final ObjectMapper YAML = new YAMLMapper();

    /** Returns a rule or a fault that is written as YAML or JSON. */
    static JsonNode parse(String text) {
        try {
            return YAML.readTree(text);
        } catch (JsonProcessingException error) {
            throw new IllegalArgumentException("invalid YAML: " + text, error);
        }
    }

    /** Logs what a test has set up without effect; it is an error if a fault had to fire. */
    private static JsonNode reported(JsonNode response) {
        response.path("warnings").forEach(warning -> LOG.log(System.Logger.Level.WARNING, warning.asText()));
        if (!response.path("failures").isEmpty()) {
            throw new AssertionError(response.get("failures").toPrettyString());
        }
        return response;
    }

    /** Returns the response; an error says what was wrong. */
    JsonNode call(String method, String path, Object body) {
        try {
            String text = body == null ? "" : JSON.writeValueAsString(body);
            var request = HttpRequest.newBuilder(URI.create(url + path)).method(method, BodyPublishers.ofString(text));
            if (token != null && !token.isEmpty()) {
                request.header("Authorization", "Bearer " + token);
            }
            HttpResponse<String> response = HTTP.send(request.build(), BodyHandlers.ofString());
            if (response.statusCode() != 200) {
                String reason = "%s %s: %s (status %d)";
                throw new IllegalStateException(reason.formatted(method, path, response.body(), response.statusCode()));
            }
            return reported(JSON.readTree(response.body()));
        } catch (IOException error) {
            throw new UncheckedIOException(method + " " + url + path, error);
        } catch (InterruptedException error) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(error);
        }
    }
}
