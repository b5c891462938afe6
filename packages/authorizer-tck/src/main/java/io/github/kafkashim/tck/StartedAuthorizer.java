package io.github.kafkashim.tck;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.stream.Stream;
import org.apache.kafka.common.ClusterResource;
import org.apache.kafka.common.Endpoint;
import org.apache.kafka.common.acl.AccessControlEntry;
import org.apache.kafka.common.acl.AccessControlEntryFilter;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.acl.AclBindingFilter;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.acl.AclPermissionType;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourcePatternFilter;
import org.apache.kafka.common.resource.ResourceType;
import org.apache.kafka.common.security.auth.KafkaPrincipal;
import org.apache.kafka.common.security.auth.SecurityProtocol;
import org.apache.kafka.server.authorizer.AclCreateResult;
import org.apache.kafka.server.authorizer.AclDeleteResult;
import org.apache.kafka.server.authorizer.Action;
import org.apache.kafka.server.authorizer.AuthorizableRequestContext;
import org.apache.kafka.server.authorizer.AuthorizationResult;
import org.apache.kafka.server.authorizer.Authorizer;
import org.apache.kafka.server.authorizer.AuthorizerServerInfo;

/** An instance of the tested class, configured and started as a broker does, and asked by steps. */
final class StartedAuthorizer implements AutoCloseable {
    private static final String OK = "ok";

    private final Authorizer authorizer;
    private String lastError = "";

    StartedAuthorizer(Class<?> type, Map<String, ?> config) throws Exception {
        authorizer = (Authorizer) type.getDeclaredConstructor().newInstance();
        authorizer.configure(config);
        if (isInstance("org.apache.kafka.common.metrics.Monitorable")) {
            BrokerParts.OfPlugins.addMetrics(authorizer);
        }
        var ready = authorizer.start(new ServerInfo());
        if (isInstance("org.apache.kafka.metadata.authorizer.ClusterMetadataAuthorizer")) {
            BrokerParts.attachController(authorizer);
        }
        for (CompletionStage<Void> each : ready.values()) {
            result(each);
        }
    }

    private boolean isInstance(String name) {
        try {
            return Class.forName(name, false, getClass().getClassLoader()).isInstance(authorizer);
        } catch (ClassNotFoundException older) {
            return false;
        }
    }

    /** Returns the class and text of the last exception that is part of an answer. */
    String lastError() {
        return lastError;
    }

    @Override
    public void close() throws Exception {
        authorizer.close();
    }

    /** Returns what the authorizer answers to a step; throws NotTried if it has no such method. */
    Object answer(Step step) throws Exception {
        try {
            if (step.has("create")) {
                return create(step.texts("create"));
            } else if (step.has("delete")) {
                return delete(step.rows("delete"));
            } else if (step.has("list")) {
                Iterable<AclBinding> found = authorizer.acls(filter(Step.list(step.json().get("list"))));
                return rows(found, step.has("meanwhile") ? step.texts("meanwhile") : List.of());
            } else if (step.has("count")) {
                return count();
            }
        } catch (NotTried reason) {
            throw reason;
        } catch (Exception | Error error) {
            if (isUnsupported(error)) {
                throw new NotTried(method(step) + " is not implemented: " + error);
            }
            lastError = error.toString();
            return code(error);
        }
        return decisions(step);
    }

    private static String method(Step step) {
        return step.has("create") ? "createAcls" : step.has("delete") ? "deleteAcls" : step.has("list") ? "acls" : "aclCount";
    }

    /** Returns whether an error says that a method is not there: of Java, Kafka, Scala or of a library. */
    private static boolean isUnsupported(Throwable error) {
        String name = error.getClass().getSimpleName();
        return error instanceof UnsupportedOperationException
                || error instanceof LinkageError
                || name.startsWith("Unsupported")
                || name.startsWith("NotImplemented");
    }

    private long count() {
        int count = authorizer.aclCount();
        if (count < 0) {
            throw new NotTried("aclCount is not implemented: it returns " + count);
        }
        return count;
    }

    /** Returns a character for each access: allowed, denied, exception, or no result. */
    private String decisions(Step step) throws Exception {
        StringBuilder answer = new StringBuilder();
        for (String principal : step.texts("who")) {
            for (String address : step.texts("from")) {
                var context = Context.of(step, principal, address);
                List<Step.Access> accesses = step.accesses(principal, address);
                if (step.has("names")) {
                    answer.append(authorize(context, accesses, !step.isSet("unlogged")));
                } else {
                    accesses.forEach(each -> answer.append(byResourceType(context, each.operation(), each.type())));
                }
            }
        }
        return answer.toString();
    }

    private String authorize(Context context, List<Step.Access> accesses, boolean isLogged) {
        List<Action> actions = new ArrayList<>();
        for (Step.Access each : accesses) {
            var resource = new ResourcePattern(ResourceType.valueOf(each.type()), each.name(), PatternType.LITERAL);
            var operation = AclOperation.valueOf(each.operation());
            actions.add(new Action(operation, resource, isLogged ? 1 : 7, isLogged, isLogged));
        }
        try {
            StringBuilder answer = new StringBuilder();
            authorizer.authorize(context, actions).forEach(each -> answer.append(character(each)));
            return answer.toString();
        } catch (RuntimeException | Error error) {
            lastError = error.toString();
            return "x".repeat(actions.size());
        }
    }

    private char byResourceType(Context context, String operation, String type) {
        try {
            return character(authorizer.authorizeByResourceType(
                    context, AclOperation.valueOf(operation), ResourceType.valueOf(type)));
        } catch (NoSuchMethodError older) {
            throw new NotTried("authorizeByResourceType is not in this release of Kafka");
        } catch (RuntimeException | Error error) {
            lastError = error.toString();
            return 'x';
        }
    }

    private static char character(AuthorizationResult result) {
        return result == null ? '-' : result == AuthorizationResult.ALLOWED ? '1' : '0';
    }

    /** Returns `ok`, or the code of the error, for each ACL. */
    List<String> create(List<String> acls) throws Exception {
        List<AclBinding> bindings = acls.stream().map(StartedAuthorizer::binding).toList();
        List<String> results = new ArrayList<>();
        for (var stage : authorizer.createAcls(Context.ADMIN, bindings)) {
            AclCreateResult result = result(stage);
            result.exception().ifPresent(error -> lastError = error.toString());
            results.add(result.exception().map(StartedAuthorizer::code).orElse(OK));
        }
        return results;
    }

    private List<Object> delete(List<List<String>> filters) throws Exception {
        List<AclBindingFilter> made = filters.stream().map(StartedAuthorizer::filter).toList();
        List<Object> results = new ArrayList<>();
        for (var stage : authorizer.deleteAcls(Context.ADMIN, made)) {
            AclDeleteResult result = result(stage);
            Stream.concat(result.exception().stream(),
                            result.aclBindingDeleteResults().stream().flatMap(each -> each.exception().stream()))
                    .forEach(error -> lastError = error.toString());
            List<AclBinding> deleted = new ArrayList<>();
            result.aclBindingDeleteResults().stream()
                    .filter(each -> each.exception().isEmpty())
                    .forEach(each -> deleted.add(each.aclBinding()));
            results.add(result.exception().isPresent() ? code(result.exception().get()) : rows(deleted, List.of()));
        }
        return results;
    }

    private static <T> T result(CompletionStage<T> stage) throws Exception {
        try {
            return stage.toCompletableFuture().get();
        } catch (ExecutionException failed) {
            throw failed.getCause() instanceof Exception error ? error : failed;
        }
    }

    private static String code(Throwable error) {
        return Errors.forException(error).name();
    }

    /** Returns ACLs as texts; ACLs that are created `meanwhile`, after the first one was read, may be among them. */
    private List<String> rows(Iterable<AclBinding> bindings, List<String> meanwhile) throws Exception {
        List<String> rows = new ArrayList<>();
        for (AclBinding each : bindings) {
            if (rows.isEmpty() && !meanwhile.isEmpty()) {
                create(meanwhile);
            }
            var entry = each.entry();
            var pattern = each.pattern();
            rows.add(String.join("|", entry.permissionType().name(), entry.principal(), entry.host(),
                    entry.operation().name(), pattern.resourceType().name(), pattern.patternType().name(),
                    pattern.name()));
        }
        rows.removeAll(meanwhile);
        rows.sort(null);
        return rows;
    }

    private static AclBinding binding(String text) {
        String[] row = text.split("\\|", -1);
        var pattern = new ResourcePattern(ResourceType.valueOf(row[4]), row[6], PatternType.valueOf(row[5]));
        return new AclBinding(pattern, new AccessControlEntry(
                row[1], row[2], AclOperation.valueOf(row[3]), AclPermissionType.valueOf(row[0])));
    }

    private static AclBindingFilter filter(List<String> row) {
        var pattern = new ResourcePatternFilter(
                ResourceType.valueOf(row.get(4)), row.get(6), PatternType.valueOf(row.get(5)));
        return new AclBindingFilter(pattern, new AccessControlEntryFilter(
                row.get(1), row.get(2), AclOperation.valueOf(row.get(3)), AclPermissionType.valueOf(row.get(0))));
    }

    /** A principal that its own listener's builder made: it is equal to none that the ACLs name. */
    private static final class OwnPrincipal extends KafkaPrincipal {
        OwnPrincipal(String type, String name) {
            super(type, name);
        }

        @Override
        public boolean equals(Object other) {
            return this == other;
        }

        @Override
        public int hashCode() {
            return System.identityHashCode(this);
        }
    }

    private record ServerInfo() implements AuthorizerServerInfo {
        private static final Endpoint ENDPOINT = new Endpoint("CLIENTS", SecurityProtocol.SASL_PLAINTEXT, "127.0.0.1", 9092);

        @Override
        public ClusterResource clusterResource() {
            return new ClusterResource("authorizer-tck");
        }

        @Override
        public int brokerId() {
            return 1;
        }

        @Override
        public Collection<Endpoint> endpoints() {
            return List.of(ENDPOINT);
        }

        @Override
        public Endpoint interBrokerEndpoint() {
            return ENDPOINT;
        }

        @Override
        public Collection<String> earlyStartListeners() {
            return List.of();
        }
    }

    private record Context(KafkaPrincipal principal, InetAddress clientAddress, boolean isOther)
            implements AuthorizableRequestContext {
        static final Context ADMIN =
                new Context(new KafkaPrincipal("User", "admin"), InetAddress.getLoopbackAddress(), false);

        static Context of(Step step, String principal, String address) throws Exception {
            String[] parts = principal.split(":", 2);
            var made = step.isSet("own_class")
                    ? new OwnPrincipal(parts[0], parts[1])
                    : new KafkaPrincipal(parts[0], parts[1], step.isSet("token"));
            return new Context(made, InetAddress.getByName(address), step.isSet("other_request"));
        }

        @Override
        public String listenerName() {
            return isOther ? "CONTROLLER" : "CLIENTS";
        }

        @Override
        public SecurityProtocol securityProtocol() {
            return isOther ? SecurityProtocol.PLAINTEXT : SecurityProtocol.SASL_PLAINTEXT;
        }

        @Override
        public int requestType() {
            return isOther ? 3 : 1; // Metadata, Fetch
        }

        @Override
        public int requestVersion() {
            return isOther ? 0 : 11;
        }

        @Override
        public String clientId() {
            return isOther ? "admin" : "authorizer-tck";
        }

        @Override
        public int correlationId() {
            return isOther ? 0 : 1;
        }
    }

    /** Returns the configuration of a case: that of the user, and what a broker passes as well. */
    static Map<String, Object> config(Map<String, String> own, Map<String, String> ofCase) {
        Map<String, Object> config = new HashMap<>(Map.of("broker.id", "1", "node.id", "1"));
        config.putAll(own);
        config.putAll(ofCase);
        return config;
    }
}
