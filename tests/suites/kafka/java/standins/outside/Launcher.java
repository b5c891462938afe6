package outside;

import java.io.IOException;
import java.io.StringReader;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Properties;

/** Calls the process that starts and stops brokers, over HTTP with Java properties. */
final class Launcher {
    private static final String ADDRESS = System.getProperty("outside.launcher");

    private Launcher() { }

    /** Calls a command; throws IllegalStateException with the launcher's message if it fails. */
    static Properties call(String command, Properties given) {
        try {
            StringWriter text = new StringWriter();
            given.store(text, null);
            HttpURLConnection connection =
                (HttpURLConnection) URI.create(ADDRESS + "/" + command).toURL().openConnection();
            connection.setDoOutput(true);
            connection.setRequestProperty("Connection", "close");
            connection.getOutputStream().write(text.toString().getBytes(StandardCharsets.UTF_8));
            boolean failed = connection.getResponseCode() >= 400;
            try (var stream = failed ? connection.getErrorStream() : connection.getInputStream()) {
                String said = new String(stream.readAllBytes(), StandardCharsets.UTF_8);
                if (failed)
                    throw new IllegalStateException(command + ": " + said);
                Properties answer = new Properties();
                answer.load(new StringReader(said));
                return answer;
            }
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }
}
