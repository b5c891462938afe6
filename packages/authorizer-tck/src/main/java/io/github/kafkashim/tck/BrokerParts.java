package io.github.kafkashim.tck;

import java.lang.reflect.Method;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.acl.AclBindingFilter;
import org.apache.kafka.common.metadata.AccessControlEntryRecord;
import org.apache.kafka.common.metadata.RemoveAccessControlEntryRecord;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.metrics.Monitorable;
import org.apache.kafka.common.metrics.internals.PluginMetricsImpl;
import org.apache.kafka.controller.AclControlManager;
import org.apache.kafka.controller.ControllerRequestContext;
import org.apache.kafka.metadata.authorizer.AclMutator;
import org.apache.kafka.metadata.authorizer.ClusterMetadataAuthorizer;
import org.apache.kafka.metadata.authorizer.StandardAcl;
import org.apache.kafka.server.authorizer.AclCreateResult;
import org.apache.kafka.server.authorizer.AclDeleteResult;
import org.apache.kafka.server.authorizer.Authorizer;
import org.apache.kafka.server.common.ApiMessageAndVersion;
import org.apache.kafka.server.common.MetadataVersion;

/** What a broker of newer releases gives to its authorizer: metrics, and a controller that keeps the ACLs. */
final class BrokerParts {
    private BrokerParts() {}

    /** Of Kafka 4.1 and newer; a class of its own, since its types are missing before. */
    static final class OfPlugins {
        private OfPlugins() {}

        static void addMetrics(Authorizer authorizer) {
            ((Monitorable) authorizer).withPluginMetrics(new PluginMetricsImpl(new Metrics(), Map.of()));
        }
    }

    static void attachController(Authorizer authorizer) throws Exception {
        ClusterMetadataAuthorizer authorizerWithController = (ClusterMetadataAuthorizer) authorizer;
        authorizerWithController.setAclMutator(new Controller(authorizerWithController));
        authorizerWithController.loadSnapshot(Map.of());
        authorizerWithController.completeInitialLoad();
    }

    /** Kafka's own controller of ACLs, without a log: its records are applied immediately. */
    private static final class Controller implements AclMutator {
        private final ClusterMetadataAuthorizer authorizer;
        private final AclControlManager acls;

        Controller(ClusterMetadataAuthorizer authorizer) throws Exception {
            this.authorizer = authorizer;
            var constructor = Class.forName(AclControlManager.class.getName() + "$Builder").getDeclaredConstructor();
            constructor.setAccessible(true);
            Object builder = constructor.newInstance();
            acls = (AclControlManager) call(builder, "build");
        }

        @Override
        public CompletableFuture<List<AclCreateResult>> createAcls(
                ControllerRequestContext context, List<AclBinding> bindings) {
            return apply("createAcls", bindings);
        }

        @Override
        public CompletableFuture<List<AclDeleteResult>> deleteAcls(
                ControllerRequestContext context, List<AclBindingFilter> filters) {
            return apply("deleteAcls", filters);
        }

        private <T> CompletableFuture<T> apply(String method, List<?> argument) {
            try {
                Object result = call(acls, method, argument);
                @SuppressWarnings("unchecked")
                List<ApiMessageAndVersion> records = (List<ApiMessageAndVersion>) call(result, "records");
                for (ApiMessageAndVersion each : records) {
                    if (each.message() instanceof AccessControlEntryRecord created) {
                        acls.replay(created);
                        authorizer.addAcl(created.id(), acl(created));
                    } else if (each.message() instanceof RemoveAccessControlEntryRecord removed) {
                        acls.replay(removed);
                        authorizer.removeAcl(removed.id());
                    }
                }
                @SuppressWarnings("unchecked")
                T response = (T) call(result, "response");
                return CompletableFuture.completedFuture(response);
            } catch (Exception error) {
                return CompletableFuture.failedFuture(error);
            }
        }

        private static StandardAcl acl(AccessControlEntryRecord created) {
            return new StandardAcl(
                    org.apache.kafka.common.resource.ResourceType.fromCode(created.resourceType()),
                    created.resourceName(),
                    org.apache.kafka.common.resource.PatternType.fromCode(created.patternType()),
                    created.principal(),
                    created.host(),
                    org.apache.kafka.common.acl.AclOperation.fromCode(created.operation()),
                    org.apache.kafka.common.acl.AclPermissionType.fromCode(created.permissionType()));
        }

        /** Calls a method that is not public; since 4.4 it also takes the version of the metadata. */
        private static Object call(Object target, String name, Object... arguments) throws Exception {
            Method method = Stream.of(target.getClass().getDeclaredMethods())
                    .filter(each -> each.getName().equals(name))
                    .findFirst()
                    .orElseThrow();
            method.setAccessible(true);
            try {
                return method.getParameterCount() == arguments.length
                        ? method.invoke(target, arguments)
                        : method.invoke(target, arguments[0], MetadataVersion.latestProduction());
            } catch (java.lang.reflect.InvocationTargetException failed) {
                throw failed.getCause() instanceof Exception error ? error : failed;
            }
        }
    }
}
