package outside;

import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import kafka.server.KafkaConfig;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ScramCredentialInfo;
import org.apache.kafka.clients.admin.UserScramCredentialUpsertion;
import org.apache.kafka.common.security.auth.SecurityProtocol;
import org.apache.kafka.common.security.scram.internals.ScramMechanism;
import org.apache.kafka.common.security.token.delegation.DelegationToken;
import org.apache.kafka.common.security.token.delegation.TokenInformation;
import org.apache.kafka.common.security.token.delegation.internals.DelegationTokenCache;

/** All delegation tokens, read by a client that logs in, as DescribeDelegationToken requires. */
public class OutsideTokens extends DelegationTokenCache {
    private static final String SECRET = "outside-secret";
    private static final String LOGIN =
        "org.apache.kafka.common.security.scram.ScramLoginModule required username=\"%s\" password=\"%s\";";
    private final Cluster cluster;
    private final KafkaConfig config;

    public OutsideTokens(Cluster cluster, KafkaConfig config) {
        super(ScramMechanism.mechanismNames());
        this.cluster = cluster;
        this.config = config;
    }

    @Override
    public Collection<TokenInformation> tokens() {
        try (Admin admin = Admin.create(settings())) {
            return admin.describeDelegationToken().delegationTokens().get().stream()
                .map(DelegationToken::tokenInfo).collect(Collectors.toList());
        } catch (Exception error) {
            throw new IllegalStateException(error);
        }
    }

    private Map<String, Object> settings() throws Exception {
        var listener = config.effectiveListenerSecurityProtocolMap().entrySet().stream()
            .filter(each -> each.getValue() != SecurityProtocol.PLAINTEXT && ports().containsKey(each.getKey().value()))
            .min(Comparator.comparing(each -> each.getValue() == SecurityProtocol.SSL))
            .orElseThrow(() -> new Inside("tokenCache without a listener for log-ins"));
        Map<String, Object> found = new HashMap<>(config.originalsWithPrefix("", true));
        found.keySet().removeIf(key -> !key.startsWith("ssl."));
        found.put("ssl.endpoint.identification.algorithm", "");
        found.put("bootstrap.servers", "localhost:" + ports().get(listener.getKey().value()));
        found.put("security.protocol", listener.getValue().name);
        if (listener.getValue() != SecurityProtocol.SSL)  // with SSL, the broker's certificate is that of a super user
            login(found);
        found.put("enable.metrics.push", "false");
        return found;
    }

    private Map<String, String> ports() {
        return cluster.ports(config.nodeId());
    }

    /** Logs in as its own SCRAM user; without SCRAM, as the user in the test's JAAS file. */
    private void login(Map<String, Object> found) throws Exception {
        List<String> mechanisms = config.getList("sasl.enabled.mechanisms");
        var scram = mechanisms.stream().filter(ScramMechanism::isScram).findFirst();
        if (scram.isPresent()) {
            add(org.apache.kafka.clients.admin.ScramMechanism.fromMechanismName(scram.get()));
            found.put("sasl.jaas.config", LOGIN.formatted(user(), SECRET));
        }
        found.put("sasl.mechanism", scram.orElse(mechanisms.get(0)));
    }

    private void add(org.apache.kafka.clients.admin.ScramMechanism mechanism) throws Exception {
        var user = new UserScramCredentialUpsertion(user(), new ScramCredentialInfo(mechanism, 4096), SECRET);
        cluster.admin().alterUserScramCredentials(List.of(user)).all().get();
        cluster.settle();
    }

    private static String user() {
        return OutsidePrincipals.PRINCIPAL.getName();
    }
}
