package outside;

import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Properties;

/** Converts Java's own key stores to a format that every program can read. */
final class Stores {
    private static final String LOCATION = ".location";

    private Stores() { }

    /** For each JKS store, writes a PKCS12 store with the same entries, named by `outside.<setting>`. */
    static void convert(Properties found) {
        for (Object each : new ArrayList<>(found.keySet())) {
            String key = (String) each;
            if (!key.matches("(.*\\.)?ssl\\.(key|trust)store\\.location"))
                continue;
            String store = key.substring(0, key.length() - LOCATION.length());
            if (!found.getProperty(store + ".type", "JKS").equals("JKS"))
                continue;
            String password = found.getProperty(store + ".password", "");
            String keyPassword = found.getProperty(store.replace("ssl.keystore", "ssl.key") + ".password", password);
            try {
                String path = found.getProperty(key) + ".p12";
                write(found.getProperty(key), path, password.toCharArray(), keyPassword.toCharArray());
                found.setProperty("outside.store." + store, path);
            } catch (GeneralSecurityException | IOException error) {
                throw new IllegalStateException(key, error);
            }
        }
    }

    private static void write(String from, String to, char[] password, char[] keyPassword)
            throws GeneralSecurityException, IOException {
        KeyStore old = KeyStore.getInstance("JKS");
        try (var stream = new FileInputStream(from)) {
            old.load(stream, password);
        }
        KeyStore made = KeyStore.getInstance("PKCS12");
        made.load(null, password);
        for (String alias : Collections.list(old.aliases()))
            if (old.isKeyEntry(alias))
                made.setKeyEntry(alias, old.getKey(alias, keyPassword), password, old.getCertificateChain(alias));
            else
                made.setCertificateEntry(alias, old.getCertificate(alias));
        try (var stream = new FileOutputStream(to)) {
            made.store(stream, password);
        }
    }
}
