import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.clients.admin.Admin;

/** Settings and admin clients; one admin client for each address and user. */
final class Connection {
    static final int DEADLINE_MS = 20_000;

    private static final Map<String, Admin> ADMINS = new HashMap<>();

    private Connection() {}

    static Map<String, Object> settings(String servers, String user) {
        Map<String, Object> settings = new HashMap<>();
        settings.put("bootstrap.servers", servers);
        settings.put("default.api.timeout.ms", DEADLINE_MS);
        settings.put("request.timeout.ms", DEADLINE_MS / 2);
        if (user != null) {
            settings.put("security.protocol", "SASL_PLAINTEXT");
            settings.put("sasl.mechanism", "PLAIN");
            settings.put("sasl.jaas.config", login(user));
        }
        return settings;
    }

    static String login(String user) {
        return "org.apache.kafka.common.security.plain.PlainLoginModule required username=\""
                + user + "\" password=\"" + user + "-secret\";";
    }

    static Admin admin(Driver.Request request) {
        String key = request.servers() + " " + request.user();
        return ADMINS.computeIfAbsent(key, unused -> Admin.create(request.settings()));
    }

    static void closeAll() {
        ADMINS.values().forEach(admin -> admin.close(Duration.ofSeconds(2)));
    }
}
