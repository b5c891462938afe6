import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.acl.AccessControlEntry;
import org.apache.kafka.common.acl.AccessControlEntryFilter;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.acl.AclBindingFilter;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.acl.AclPermissionType;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourcePatternFilter;
import org.apache.kafka.common.resource.ResourceType;

/** Creating, listing and deleting ACLs with the admin client. */
final class Acls {
    private Acls() {}

    static Object create(Driver.Request request) throws Exception {
        List<AclBinding> bindings = new ArrayList<>();
        for (JsonNode acl : request.arguments().get("acls")) {
            bindings.add(binding(acl));
        }
        List<Object> codes = new ArrayList<>();
        for (KafkaFuture<Void> created :
                Connection.admin(request).createAcls(bindings).values().values()) {
            try {
                created.get();
            } catch (ExecutionException failed) {
                codes.add(Driver.failure(failed).get("code"));
            }
        }
        return codes;
    }

    static Object list(Driver.Request request) throws Exception {
        AclBindingFilter filter = filter(request.arguments().get("filter"));
        return plain(Connection.admin(request).describeAcls(filter).values().get());
    }

    static Object delete(Driver.Request request) throws Exception {
        List<AclBindingFilter> filters = new ArrayList<>();
        for (JsonNode filter : request.arguments().get("filters")) {
            filters.add(filter(filter));
        }
        var results = Connection.admin(request).deleteAcls(filters).values();
        List<Object> deleted = new ArrayList<>();
        for (AclBindingFilter filter : filters) {
            List<AclBinding> found = new ArrayList<>();
            results.get(filter).get().values().forEach(one -> found.add(one.binding()));
            deleted.add(plain(found));
        }
        return deleted;
    }

    private static AclBinding binding(JsonNode acl) {
        return new AclBinding(
                new ResourcePattern(
                        ResourceType.valueOf(text(acl, "resource_type")),
                        text(acl, "name"),
                        PatternType.valueOf(text(acl, "pattern_type"))),
                new AccessControlEntry(
                        text(acl, "principal"),
                        text(acl, "host"),
                        AclOperation.valueOf(text(acl, "operation")),
                        AclPermissionType.valueOf(text(acl, "permission"))));
    }

    private static AclBindingFilter filter(JsonNode acl) {
        return new AclBindingFilter(
                new ResourcePatternFilter(
                        ResourceType.valueOf(text(acl, "resource_type")),
                        text(acl, "name"),
                        PatternType.valueOf(text(acl, "pattern_type"))),
                new AccessControlEntryFilter(
                        text(acl, "principal"),
                        text(acl, "host"),
                        AclOperation.valueOf(text(acl, "operation")),
                        AclPermissionType.valueOf(text(acl, "permission"))));
    }

    private static String text(JsonNode acl, String name) {
        return acl.get(name).isNull() ? null : acl.get(name).asText();
    }

    private static List<Map<String, String>> plain(Collection<AclBinding> bindings) {
        List<Map<String, String>> acls = new ArrayList<>();
        for (AclBinding binding : bindings) {
            Map<String, String> acl = new LinkedHashMap<>();
            acl.put("resource_type", binding.pattern().resourceType().name());
            acl.put("name", binding.pattern().name());
            acl.put("pattern_type", binding.pattern().patternType().name());
            acl.put("principal", binding.entry().principal());
            acl.put("host", binding.entry().host());
            acl.put("operation", binding.entry().operation().name());
            acl.put("permission", binding.entry().permissionType().name());
            acls.add(acl);
        }
        return acls;
    }
}
