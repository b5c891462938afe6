import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;

/** A client's log-in; fields that its mechanism does not need are empty. */
record Login(
        String protocol,
        String mechanism,
        String username,
        String password,
        boolean isToken,
        String token,
        String authority,
        String identity) {

    private static final String MODULES = "org.apache.kafka.common.security.";
    private static final String ALLOWED_URLS = "org.apache.kafka.sasl.oauthbearer.allowed.urls";

    static Login of(JsonNode login) {
        return new Login(
                login.get("protocol").asText(),
                login.get("mechanism").asText(),
                login.get("username").asText(),
                login.get("password").asText(),
                login.get("is_token").asBoolean(),
                login.get("token").asText(),
                login.get("authority").asText(),
                login.get("identity").asText());
    }

    Map<String, String> settings() {
        Map<String, String> settings = new TreeMap<>();
        settings.put("security.protocol", protocol);
        if (mechanism.isEmpty()) {
            settings.put("ssl.truststore.type", "PEM");
            settings.put("ssl.truststore.location", authority);
            settings.put("ssl.keystore.type", "PEM");
            settings.put("ssl.keystore.location", identity);
            return settings;
        }
        settings.put("sasl.mechanism", mechanism);
        if (mechanism.equals("OAUTHBEARER")) {
            settings.put("sasl.jaas.config", MODULES + "oauthbearer.OAuthBearerLoginModule required;");
            settings.put(
                    "sasl.login.callback.handler.class",
                    MODULES + "oauthbearer.OAuthBearerLoginCallbackHandler");
            settings.put("sasl.oauthbearer.token.endpoint.url", tokenFile());
        } else {
            settings.put("sasl.jaas.config", withPassword());
        }
        return settings;
    }

    private String withPassword() {
        String module = mechanism.equals("PLAIN") ? "plain.PlainLoginModule" : "scram.ScramLoginModule";
        return MODULES + module + " required username=\"" + username + "\" password=\"" + password
                + (isToken ? "\" tokenauth=\"true\";" : "\";");
    }

    /** Writes the token to a file and returns its URL, which must be allowed explicitly since 4.0. */
    private String tokenFile() {
        try {
            Path file = Files.createTempFile("token", ".jwt");
            file.toFile().deleteOnExit();
            String url = Files.writeString(file, token).toUri().toString();
            System.setProperty(ALLOWED_URLS, url);
            return url;
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }
}
