import com.fasterxml.jackson.databind.JsonNode;
import java.util.*;
import org.apache.kafka.clients.admin.*;
import org.apache.kafka.common.acl.*;
import org.apache.kafka.common.resource.*;
import org.apache.kafka.common.security.auth.KafkaPrincipal;
import org.apache.kafka.common.security.token.delegation.DelegationToken;

/** Commands about ACLs, delegation tokens and passwords. */
final class Access {
    private static final int ITERATIONS = 4096;

    static final Map<String, Driver.Command> COMMANDS = new HashMap<>();

    static {
        COMMANDS.put("create_acls", Access::createAcls);
        COMMANDS.put("describe_acls", Access::describeAcls);
        COMMANDS.put("delete_acls", Access::deleteAcls);
        COMMANDS.put("create_token", Access::createToken);
        COMMANDS.put("renew_token", Access::renewToken);
        COMMANDS.put("expire_token", Access::expireToken);
        COMMANDS.put("describe_tokens", Access::describeTokens);
        COMMANDS.put("describe_scram_users", Access::describeScramUsers);
        COMMANDS.put("alter_scram_users", Access::alterScramUsers);
    }

    private Access() {}

    private static Object createAcls(Client client, JsonNode fields) throws Exception {
        Map<String, AclBinding> wanted = new LinkedHashMap<>();
        for (JsonNode acl : fields.get("acls")) {
            wanted.put(String.valueOf(wanted.size()), binding(acl));
        }
        var done = client.admin().createAcls(wanted.values()).values();
        return Driver.items(wanted.keySet(), number -> done.get(wanted.get(number)).get());
    }

    private static Object describeAcls(Client client, JsonNode fields) throws Exception {
        return Map.of(
                "acls", shown(client.admin().describeAcls(filter(fields.get("filter"))).values().get()));
    }

    private static Object deleteAcls(Client client, JsonNode fields) throws Exception {
        Map<String, AclBindingFilter> wanted = new LinkedHashMap<>();
        for (JsonNode filter : fields.get("filters")) {
            wanted.put(String.valueOf(wanted.size()), filter(filter));
        }
        var done = client.admin().deleteAcls(wanted.values()).values();
        return Driver.items(wanted.keySet(), number -> {
            List<AclBinding> deleted = new ArrayList<>();
            for (var result : done.get(wanted.get(number)).get().values()) {
                if (result.exception() != null) {
                    throw result.exception();
                }
                deleted.add(result.binding());
            }
            return Map.of("acls", shown(deleted));
        });
    }

    private static AclBinding binding(JsonNode acl) {
        var pattern = filter(acl).patternFilter();
        var entry = filter(acl).entryFilter();
        return new AclBinding(
                new ResourcePattern(pattern.resourceType(), pattern.name(), pattern.patternType()),
                new AccessControlEntry(entry.principal(), entry.host(), entry.operation(), entry.permissionType()));
    }

    private static AclBindingFilter filter(JsonNode acl) {
        var type = ResourceType.valueOf(Driver.text(acl, "resource_type"));
        var patternType = PatternType.valueOf(Driver.text(acl, "pattern_type"));
        var operation = AclOperation.valueOf(Driver.text(acl, "operation"));
        var permission = AclPermissionType.valueOf(Driver.text(acl, "permission"));
        return new AclBindingFilter(
                new ResourcePatternFilter(type, Driver.text(acl, "name"), patternType),
                new AccessControlEntryFilter(
                        Driver.text(acl, "principal"), Driver.text(acl, "host"), operation, permission));
    }

    private static Object shown(Collection<AclBinding> bindings) {
        return bindings.stream().map(Access::shownAcl).toList();
    }

    private static Object shownAcl(AclBinding binding) {
        var pattern = binding.pattern();
        var entry = binding.entry();
        return Map.of(
                "resource_type", pattern.resourceType(), "name", pattern.name(),
                "pattern_type", pattern.patternType(), "principal", entry.principal(),
                "host", entry.host(), "operation", entry.operation(),
                "permission", entry.permissionType());
    }

    static KafkaPrincipal principal(String text) {
        String[] parts = text.split(":", 2);
        return new KafkaPrincipal(parts[0], parts[1]);
    }

    private static Object createToken(Client client, JsonNode fields) throws Exception {
        var renewers = Driver.texts(fields, "renewers").stream().map(Access::principal).toList();
        var options = Release.tokenOptions(Driver.text(fields, "owner")).renewers(renewers);
        return shownToken(client.admin().createDelegationToken(options).delegationToken().get());
    }

    private static byte[] hmac(JsonNode fields) {
        return Base64.getDecoder().decode(Driver.text(fields, "hmac"));
    }

    private static Object renewToken(Client client, JsonNode fields) throws Exception {
        var options =
                new RenewDelegationTokenOptions().renewTimePeriodMs(fields.get("milliseconds").asLong());
        client.admin().renewDelegationToken(hmac(fields), options).expiryTimestamp().get();
        return null;
    }

    private static Object expireToken(Client client, JsonNode fields) throws Exception {
        var options =
                new ExpireDelegationTokenOptions().expiryTimePeriodMs(fields.get("milliseconds").asLong());
        client.admin().expireDelegationToken(hmac(fields), options).expiryTimestamp().get();
        return null;
    }

    private static Object describeTokens(Client client, JsonNode fields) throws Exception {
        var tokens = client.admin().describeDelegationToken().delegationTokens().get();
        return Map.of("tokens", tokens.stream().map(Access::shownToken).toList());
    }

    private static Object shownToken(DelegationToken token) {
        return Map.of(
                "token_id", token.tokenInfo().tokenId(),
                "hmac", token.hmacAsBase64String(),
                "owner", token.tokenInfo().ownerAsString());
    }

    private static Object describeScramUsers(Client client, JsonNode fields) throws Exception {
        List<String> users = Driver.texts(fields, "users");
        var found = client.admin().describeUserScramCredentials(users);
        return Driver.items(users, user -> {
            var infos = found.description(user).get().credentialInfos().stream();
            return Map.of("mechanisms", infos.map(info -> info.mechanism().mechanismName()).toList());
        });
    }

    private static Object alterScramUsers(Client client, JsonNode fields) throws Exception {
        ScramMechanism mechanism = ScramMechanism.fromMechanismName(Driver.text(fields, "mechanism"));
        var info = new ScramCredentialInfo(mechanism, ITERATIONS);
        List<UserScramCredentialAlteration> wanted = new ArrayList<>();
        Driver.pairs(fields, "passwords").forEach((user, password) -> wanted.add(
                password == null
                        ? new UserScramCredentialDeletion(user, mechanism)
                        : new UserScramCredentialUpsertion(user, info, password)));
        return Driver.items(client.admin().alterUserScramCredentials(wanted).values());
    }
}
