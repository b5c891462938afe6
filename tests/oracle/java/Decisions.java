import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import org.apache.kafka.common.ClusterResource;
import org.apache.kafka.common.Endpoint;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.acl.AclPermissionType;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.metrics.internals.PluginMetricsImpl;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourceType;
import org.apache.kafka.common.security.auth.KafkaPrincipal;
import org.apache.kafka.common.security.auth.SecurityProtocol;
import org.apache.kafka.metadata.authorizer.StandardAcl;
import org.apache.kafka.metadata.authorizer.StandardAuthorizer;
import org.apache.kafka.server.authorizer.Action;
import org.apache.kafka.server.authorizer.AuthorizableRequestContext;
import org.apache.kafka.server.authorizer.AuthorizationResult;
import org.apache.kafka.server.authorizer.AuthorizerServerInfo;

/**
 * Decides with Kafka's own StandardAuthorizer: reads a set of ACLs and lists of principals, hosts,
 * operations and names, and writes the decisions about all combinations as a text of 0 and 1, in
 * this order; then those by resource type, of each principal and host.
 */
public class Decisions {
    private static final ObjectMapper JSON = new ObjectMapper();

    public static void main(String[] arguments) throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            System.out.println(JSON.writeValueAsString(decisions(JSON.readTree(line))));
        }
    }

    private static String decisions(JsonNode asked) throws Exception {
        ResourceType kind = ResourceType.valueOf(asked.get("resource_type").asText());
        List<Action> actions = new ArrayList<>();
        for (JsonNode operation : asked.get("operations")) {
            for (JsonNode name : asked.get("names")) {
                ResourcePattern resource = new ResourcePattern(kind, name.asText(), PatternType.LITERAL);
                actions.add(new Action(AclOperation.valueOf(operation.asText()), resource, 1, true, true));
            }
        }
        StringBuilder written = new StringBuilder();
        try (StandardAuthorizer authorizer = authorizer(asked)) {
            List<Context> contexts = contexts(asked);
            for (Context context : contexts) {
                for (AuthorizationResult result : authorizer.authorize(context, actions)) {
                    written.append(result == AuthorizationResult.ALLOWED ? '1' : '0');
                }
            }
            for (Context context : contexts) {
                for (JsonNode operation : asked.get("by_type")) {
                    AclOperation checked = AclOperation.valueOf(operation.asText());
                    AuthorizationResult result = authorizer.authorizeByResourceType(context, checked, kind);
                    written.append(result == AuthorizationResult.ALLOWED ? '1' : '0');
                }
            }
        }
        return written.toString();
    }

    private static List<Context> contexts(JsonNode asked) throws Exception {
        List<Context> contexts = new ArrayList<>();
        for (JsonNode principal : asked.get("principals")) {
            String[] parts = principal.asText().split(":", 2);
            for (JsonNode host : asked.get("hosts")) {
                contexts.add(new Context(new KafkaPrincipal(parts[0], parts[1]), InetAddress.getByName(host.asText())));
            }
        }
        return contexts;
    }

    private static StandardAuthorizer authorizer(JsonNode asked) {
        Map<String, Object> configs = new HashMap<>();
        configs.put("super.users", asked.get("super_users").asText());
        configs.put("allow.everyone.if.no.acl.found", asked.get("allow_everyone").asText());
        configs.put("node.id", "1");
        StandardAuthorizer authorizer = new StandardAuthorizer();
        authorizer.configure(configs);
        authorizer.withPluginMetrics(new PluginMetricsImpl(new Metrics(), Map.of()));
        authorizer.start(new ServerInfo());
        authorizer.completeInitialLoad();
        for (JsonNode acl : asked.get("acls")) {
            authorizer.addAcl(Uuid.randomUuid(), new StandardAcl(
                    ResourceType.valueOf(acl.get("resource_type").asText()),
                    acl.get("resource_name").asText(),
                    PatternType.valueOf(acl.get("resource_pattern_type").asText()),
                    acl.get("principal").asText(),
                    acl.get("host").asText(),
                    AclOperation.valueOf(acl.get("operation").asText()),
                    AclPermissionType.valueOf(acl.get("permission").asText())));
        }
        return authorizer;
    }

    private record ServerInfo() implements AuthorizerServerInfo {
        @Override
        public ClusterResource clusterResource() {
            return new ClusterResource("oracle");
        }

        @Override
        public int brokerId() {
            return 1;
        }

        @Override
        public Collection<Endpoint> endpoints() {
            return List.of();
        }

        @Override
        public Endpoint interBrokerEndpoint() {
            return new Endpoint("PLAINTEXT", SecurityProtocol.PLAINTEXT, "127.0.0.1", 9092);
        }

        @Override
        public Collection<String> earlyStartListeners() {
            return List.of();
        }
    }

    private record Context(KafkaPrincipal principal, InetAddress clientAddress) implements AuthorizableRequestContext {
        @Override
        public String listenerName() {
            return "PLAINTEXT";
        }

        @Override
        public SecurityProtocol securityProtocol() {
            return SecurityProtocol.PLAINTEXT;
        }

        @Override
        public int requestType() {
            return 0;
        }

        @Override
        public int requestVersion() {
            return 0;
        }

        @Override
        public String clientId() {
            return "oracle";
        }

        @Override
        public int correlationId() {
            return 1;
        }
    }
}
