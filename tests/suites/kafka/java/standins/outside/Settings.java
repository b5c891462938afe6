package outside;

import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Properties;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import kafka.server.KafkaConfig;
import org.apache.kafka.common.config.types.Password;
import org.apache.kafka.common.security.auth.KafkaPrincipalBuilder;
import org.apache.kafka.common.security.auth.PlaintextAuthenticationContext;
import org.apache.kafka.common.security.auth.SecurityProtocol;
import org.apache.kafka.common.utils.Utils;
import org.apache.kafka.server.telemetry.ClientTelemetry;
import org.apache.kafka.server.telemetry.ClientTelemetryExporterProvider;

/**
 * The settings of a node for another process, with an additional listener: its clients are always a
 * super user, independent of the test's listeners.
 */
public final class Settings {
    static final String LISTENER = "OUTSIDE";
    private static final String BUILDER = "principal.builder.class";

    private Settings() { }

    /** Returns the id of a test's cluster: a new one, or a common one for tests that share shims. */
    public static String clusterId(String own) {
        return System.getProperty("outside.cluster", own);
    }

    public static Properties of(KafkaConfig config, String voters) {
        Properties found = new Properties();
        config.originals().forEach((key, value) -> found.setProperty(key, text(value)));
        if (!voters.isEmpty() && !found.getProperty("controller.quorum.voters", "").isEmpty())
            found.setProperty("controller.quorum.voters", voters);
        if (found.containsKey("authorizer.class.name"))
            found.merge("super.users", OutsidePrincipals.PRINCIPAL.toString(), (old, own) -> old.equals("") ? own : old + ";" + own);
        principals(config, found);
        if (config.getList("metric.reporters").stream().anyMatch(Settings::takesClientMetrics))
            found.setProperty("outside.telemetry", "true");
        for (String key : List.of("log.dirs", "log.dir", "metadata.log.dir"))
            found.computeIfPresent(key, (name, paths) -> absolute((String) paths));
        Stores.convert(found);
        String login = System.getProperty("java.security.auth.login.config");
        if (login != null && Files.exists(Path.of(login)))
            found.setProperty("outside.jaas", login);
        return found;
    }

    /** Adds the listener for the harness, on brokers only. */
    public static void addListener(KafkaConfig config, Properties found) {
        String protocols = config.effectiveListenerSecurityProtocolMap().entrySet().stream()
            .map(pair -> pair.getKey().value() + ":" + pair.getValue())
            .collect(Collectors.joining(","));
        found.setProperty("listener.security.protocol.map", protocols + "," + LISTENER + ":PLAINTEXT");
        for (String key : List.of("listeners", "advertised.listeners"))
            if (!found.getProperty(key, "").isEmpty())
                found.merge(key, LISTENER + "://localhost:0", (old, own) -> old + "," + own);
        found.setProperty("listener.name.outside." + BUILDER, OutsidePrincipals.class.getName());
    }

    /** Sets the principals of clients without log-in for each listener, as the test's class does. */
    private static void principals(KafkaConfig config, Properties found) {
        String listeners = "," + found.getProperty("listeners", "");
        config.effectiveListenerSecurityProtocolMap().forEach((listener, protocol) -> {
            String builder = found.getProperty(listener.configPrefix() + BUILDER, found.getProperty(BUILDER));
            if (builder != null && protocol == SecurityProtocol.PLAINTEXT && listeners.contains("," + listener.value() + "://"))
                found.setProperty("outside.principal." + listener.value(), anonymous(builder, listener.value()));
        });
    }

    private static String anonymous(String builder, String listener) {
        try {
            var context = new PlaintextAuthenticationContext(InetAddress.getLoopbackAddress(), listener);
            return Utils.newInstance(builder, KafkaPrincipalBuilder.class).build(context).toString();
        } catch (ClassNotFoundException error) {
            throw new IllegalArgumentException(error);
        }
    }

    private static boolean takesClientMetrics(String reporter) {
        try {
            Class<?> type = Class.forName(reporter);
            return ClientTelemetry.class.isAssignableFrom(type) || ClientTelemetryExporterProvider.class.isAssignableFrom(type);
        } catch (ClassNotFoundException error) {
            throw new IllegalArgumentException(error);
        }
    }

    /** Makes paths absolute, which are relative to the working directory of this process. */
    private static String absolute(String paths) {
        return Stream.of(paths.split(",")).filter(path -> !path.isBlank())
            .map(path -> Path.of(path.trim()).toAbsolutePath().toString()).collect(Collectors.joining(","));
    }

    private static String text(Object value) {
        if (value instanceof Password password)
            return password.value();
        if (value instanceof Class<?> type)
            return type.getName();
        if (value instanceof List<?> list)
            return list.stream().map(String::valueOf).collect(Collectors.joining(","));
        return String.valueOf(value);
    }
}
