import java.util.*;
import org.apache.kafka.clients.admin.*;
import org.apache.kafka.common.acl.*;
import org.apache.kafka.common.resource.*;
import org.apache.kafka.common.security.auth.KafkaPrincipal;
import org.apache.kafka.common.security.token.delegation.DelegationToken;

/** Commands about ACLs, delegation tokens and passwords. */
final class Access {
    private static final int ITERATIONS = 4096;

    private Access() {}

    static Object createAcls(Client client, Loop.Fields fields) throws Exception {
        Map<String, AclBinding> wanted = new LinkedHashMap<>();
        for (Loop.Fields acl : fields.all("acls")) {
            wanted.put(String.valueOf(wanted.size()), binding(acl));
        }
        var done = client.admin().createAcls(wanted.values()).values();
        return Loop.items(wanted.keySet(), number -> done.get(wanted.get(number)).get());
    }

    static Object describeAcls(Client client, Loop.Fields fields) throws Exception {
        AclBindingFilter wanted = filter(fields.at("filter"));
        var found = client.admin().describeAcls(wanted).values().get();
        return Map.of("acls", found.stream().map(Access::shown).toList());
    }

    static Object deleteAcls(Client client, Loop.Fields fields) throws Exception {
        Map<String, AclBindingFilter> wanted = new LinkedHashMap<>();
        for (Loop.Fields filter : fields.all("filters")) {
            wanted.put(String.valueOf(wanted.size()), filter(filter));
        }
        var done = client.admin().deleteAcls(wanted.values()).values();
        return Loop.items(wanted.keySet(), number -> {
            List<Object> deleted = new ArrayList<>();
            for (var result : done.get(wanted.get(number)).get().values()) {
                if (result.exception() != null) {
                    throw result.exception();
                }
                deleted.add(shown(result.binding()));
            }
            return Map.of("acls", deleted);
        });
    }

    private static AclBinding binding(Loop.Fields acl) {
        var at = filter(acl).patternFilter();
        var who = filter(acl).entryFilter();
        return new AclBinding(
                new ResourcePattern(at.resourceType(), at.name(), at.patternType()),
                new AccessControlEntry(
                        who.principal(), who.host(), who.operation(), who.permissionType()));
    }

    private static AclBindingFilter filter(Loop.Fields acl) {
        var type = ResourceType.valueOf(acl.text("resource_type"));
        var patternType = PatternType.valueOf(acl.text("pattern_type"));
        var operation = AclOperation.valueOf(acl.text("operation"));
        var permission = AclPermissionType.valueOf(acl.text("permission"));
        return new AclBindingFilter(
                new ResourcePatternFilter(type, acl.text("name"), patternType),
                new AccessControlEntryFilter(
                        acl.text("principal"), acl.text("host"), operation, permission));
    }

    private static Object shown(AclBinding binding) {
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

    static Object createToken(Client client, Loop.Fields fields) throws Exception {
        var renewers = fields.texts("renewers").stream().map(Access::principal).toList();
        var options = Release.tokenOptions(fields.text("owner")).renewers(renewers);
        return shownToken(client.admin().createDelegationToken(options).delegationToken().get());
    }

    private static byte[] hmac(Loop.Fields fields) {
        return Base64.getDecoder().decode(fields.text("hmac"));
    }

    static Object renewToken(Client client, Loop.Fields fields) throws Exception {
        var options = new RenewDelegationTokenOptions();
        options.renewTimePeriodMs(fields.number("milliseconds"));
        client.admin().renewDelegationToken(hmac(fields), options).expiryTimestamp().get();
        return null;
    }

    static Object expireToken(Client client, Loop.Fields fields) throws Exception {
        var options = new ExpireDelegationTokenOptions();
        options.expiryTimePeriodMs(fields.number("milliseconds"));
        client.admin().expireDelegationToken(hmac(fields), options).expiryTimestamp().get();
        return null;
    }

    static Object describeTokens(Client client, Loop.Fields fields) throws Exception {
        var tokens = client.admin().describeDelegationToken().delegationTokens().get();
        return Map.of("tokens", tokens.stream().map(Access::shownToken).toList());
    }

    private static Object shownToken(DelegationToken token) {
        return Map.of(
                "token_id", token.tokenInfo().tokenId(),
                "hmac", token.hmacAsBase64String(),
                "owner", token.tokenInfo().ownerAsString());
    }

    static Object describeScramUsers(Client client, Loop.Fields fields) throws Exception {
        List<String> users = fields.texts("users");
        var found = client.admin().describeUserScramCredentials(users);
        return Loop.items(users, user -> {
            List<String> names = new ArrayList<>();
            for (var info : found.description(user).get().credentialInfos()) {
                names.add(info.mechanism().mechanismName());
            }
            return Map.of("mechanisms", names);
        });
    }

    static Object alterScramUsers(Client client, Loop.Fields fields) throws Exception {
        ScramMechanism mechanism = ScramMechanism.fromMechanismName(fields.text("mechanism"));
        var info = new ScramCredentialInfo(mechanism, ITERATIONS);
        List<UserScramCredentialAlteration> wanted = new ArrayList<>();
        fields.pairs("passwords").forEach((user, password) -> wanted.add(
                password == null
                        ? new UserScramCredentialDeletion(user, mechanism)
                        : new UserScramCredentialUpsertion(user, info, password)));
        return Driver.items(client.admin().alterUserScramCredentials(wanted).values());
    }
}
