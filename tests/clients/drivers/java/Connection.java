import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.clients.admin.Admin;

/** Settings and admin clients; one admin client for each address and log-in. */
final class Connection {
    static final int DEADLINE_MS = 20_000;

    private static final Map<String, Admin> ADMINS = new HashMap<>();

    private Connection() {}

    static Map<String, Object> settings(String servers, Login login) {
        Map<String, Object> settings = new HashMap<>();
        settings.put("bootstrap.servers", servers);
        settings.put("default.api.timeout.ms", DEADLINE_MS);
        settings.put("request.timeout.ms", DEADLINE_MS / 2);
        if (login != null) {
            settings.putAll(login.settings());
        }
        return settings;
    }

    static Admin admin(Driver.Request request) {
        String key = request.servers() + " " + request.login();
        return ADMINS.computeIfAbsent(key, unused -> Admin.create(request.settings()));
    }

    static void closeAll() {
        ADMINS.values().forEach(admin -> admin.close(Duration.ofSeconds(2)));
    }
}
