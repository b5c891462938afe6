import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.*;
import java.util.concurrent.ConcurrentHashMap;
import javax.security.auth.callback.*;
import javax.security.auth.login.AppConfigurationEntry;
import org.apache.kafka.common.security.auth.AuthenticateCallbackHandler;
import org.apache.kafka.common.security.oauthbearer.OAuthBearerToken;
import org.apache.kafka.common.security.oauthbearer.OAuthBearerTokenCallback;
import org.apache.kafka.common.security.scram.ScramExtensionsCallback;

/** Returns the current credentials each time that a client logs in, so that a command can change them. */
public final class Logins implements AuthenticateCallbackHandler {
    private static final Map<String, Loop.Fields> LOGINS = new ConcurrentHashMap<>();
    private static final String PACKAGE = "org.apache.kafka.common.security.";
    private static final Map<String, String> MODULES =
            Map.of(
                    "PLAIN", "plain.PlainLoginModule",
                    "OAUTHBEARER", "oauthbearer.OAuthBearerLoginModule",
                    "SCRAM-SHA-256", "scram.ScramLoginModule",
                    "SCRAM-SHA-512", "scram.ScramLoginModule");

    private String client;

    /** Keeps a client's credentials, and returns the client settings that refer to them. */
    static Map<String, String> settings(String client, Loop.Fields login) {
        LOGINS.put(client, login);
        String mechanism = login.text("mechanism");
        String module = MODULES.getOrDefault(mechanism, MODULES.get("PLAIN"));
        String side = mechanism.equals("OAUTHBEARER") ? "login" : "client";
        return Map.of(
                "sasl.mechanism", mechanism,
                "sasl.jaas.config", PACKAGE + module + " required client=\"" + client + "\";",
                "sasl." + side + ".callback.handler.class", Logins.class.getName());
    }

    @Override
    public void configure(
            Map<String, ?> settings, String mechanism, List<AppConfigurationEntry> entries) {
        client = (String) entries.get(0).getOptions().get("client");
    }

    @Override
    public void handle(Callback[] callbacks) {
        Loop.Fields login = LOGINS.get(client);
        for (Callback callback : callbacks) {
            if (callback instanceof NameCallback) {
                ((NameCallback) callback).setName(login.text("user"));
            } else if (callback instanceof PasswordCallback) {
                ((PasswordCallback) callback).setPassword(login.text("password").toCharArray());
            } else if (callback instanceof OAuthBearerTokenCallback) {
                ((OAuthBearerTokenCallback) callback).token(new Token(login.text("token")));
            } else if (callback instanceof ScramExtensionsCallback
                    && login.flag("is_delegation_token")) {
                ((ScramExtensionsCallback) callback).extensions(Map.of("tokenauth", "true"));
            }
        }
    }

    @Override
    public void close() {}

    /** A JSON web token, compared by identity: a new login drops a token equal to the old one. */
    private static final class Token implements OAuthBearerToken {
        private final String value;

        Token(String value) {
            this.value = value;
        }

        @Override
        public String value() {
            return value;
        }

        private JsonNode claim(String name) {
            try {
                byte[] claims = Base64.getUrlDecoder().decode(value.split("\\.")[1]);
                return Loop.JSON.readTree(claims).path(name);
            } catch (IOException error) {
                throw new UncheckedIOException(error);
            }
        }

        @Override
        public Set<String> scope() {
            return Set.of();
        }

        @Override
        public long lifetimeMs() {
            return claim("exp").asLong() * 1000;
        }

        @Override
        public String principalName() {
            return claim("sub").asText();
        }

        @Override
        public Long startTimeMs() {
            return null;
        }
    }
}
