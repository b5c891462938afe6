package outside;

import java.util.List;
import java.util.Locale;
import org.apache.kafka.common.errors.ResourceNotFoundException;
import org.apache.kafka.common.security.scram.ScramCredential;
import org.apache.kafka.common.security.authenticator.CredentialCache;
import org.apache.kafka.common.security.scram.internals.ScramMechanism;
import org.apache.kafka.security.CredentialProvider;

/** The part of a broker's SCRAM credential cache that clients can read: which users have credentials. */
public class OutsideCredentials extends CredentialProvider {
    public OutsideCredentials(Cluster cluster) {
        super(ScramMechanism.mechanismNames(), null);
        for (String mechanism : ScramMechanism.mechanismNames())
            replace(credentialCache, mechanism, new Users(cluster, mechanism));
    }

    @SuppressWarnings("unchecked")
    private static void replace(CredentialCache cache, String mechanism, Users users) {
        try {
            var field = CredentialCache.class.getDeclaredField("cacheMap");
            field.setAccessible(true);
            ((java.util.Map<String, Object>) field.get(cache)).put(mechanism, users);
        } catch (ReflectiveOperationException error) {
            throw new IllegalStateException(error);
        }
    }

    private static final class Users extends CredentialCache.Cache<ScramCredential> {
        private static final byte[] UNKNOWN = new byte[0];
        private final Cluster cluster;
        private final String mechanism;

        Users(Cluster cluster, String mechanism) {
            super(ScramCredential.class);
            this.cluster = cluster;
            this.mechanism = mechanism.replace('-', '_').toUpperCase(Locale.ROOT);
        }

        @Override
        public ScramCredential get(String user) {
            cluster.settle();
            try {
                var found = cluster.admin().describeUserScramCredentials(List.of(user)).description(user).get();
                return found.credentialInfos().stream()
                    .filter(info -> info.mechanism().name().equals(mechanism))
                    .map(info -> new ScramCredential(UNKNOWN, UNKNOWN, UNKNOWN, info.iterations()))
                    .findFirst().orElse(null);
            } catch (Exception error) {
                if (error.getCause() instanceof ResourceNotFoundException)
                    return null;
                throw new IllegalStateException(error);
            }
        }
    }
}
