import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import javax.security.auth.callback.Callback;
import javax.security.auth.callback.NameCallback;
import javax.security.auth.login.AppConfigurationEntry;
import org.apache.kafka.common.security.auth.AuthenticateCallbackHandler;
import org.apache.kafka.common.security.plain.PlainAuthenticateCallback;

/**
 * Reads the passwords of PLAIN from a file at each log-in (KIP-86), so that they can be changed while
 * the broker runs. The option `file` of the login module names the file.
 */
public class Passwords implements AuthenticateCallbackHandler {
    private Path file;

    @Override
    public void configure(
            Map<String, ?> settings, String mechanism, List<AppConfigurationEntry> entries) {
        file = Path.of((String) entries.get(0).getOptions().get("file"));
    }

    @Override
    public void handle(Callback[] callbacks) throws IOException {
        Properties known = new Properties();
        try (Reader reader = Files.newBufferedReader(file)) {
            known.load(reader);
        }
        String name = "";
        for (Callback callback : callbacks) {
            if (callback instanceof NameCallback) {
                name = ((NameCallback) callback).getDefaultName();
            } else if (callback instanceof PlainAuthenticateCallback) {
                PlainAuthenticateCallback asked = (PlainAuthenticateCallback) callback;
                String expected = known.getProperty(name);
                asked.authenticated(expected != null && expected.equals(new String(asked.password())));
            }
        }
    }

    @Override
    public void close() {}
}
