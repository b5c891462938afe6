package outside;

import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.stream.Collectors;
import org.apache.kafka.common.Endpoint;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.acl.AclBindingFilter;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.server.authorizer.AclCreateResult;
import org.apache.kafka.server.authorizer.AclDeleteResult;
import org.apache.kafka.server.authorizer.AclDeleteResult.AclBindingDeleteResult;
import org.apache.kafka.server.authorizer.Action;
import org.apache.kafka.server.authorizer.AuthorizableRequestContext;
import org.apache.kafka.server.authorizer.AuthorizationResult;
import org.apache.kafka.server.authorizer.Authorizer;
import org.apache.kafka.server.authorizer.AuthorizerServerInfo;

/** A cluster's ACLs, read and changed by an admin client. */
public class OutsideAuthorizer implements Authorizer {
    private final Cluster cluster;

    public OutsideAuthorizer(Cluster cluster) {
        this.cluster = cluster;
    }

    @Override
    public List<? extends CompletionStage<AclCreateResult>> createAcls(
            AuthorizableRequestContext context, List<AclBinding> bindings) {
        Map<AclBinding, KafkaFuture<Void>> done = cluster.admin().createAcls(new HashSet<>(bindings)).values();
        return bindings.stream().map(binding -> {
            var result = new CompletableFuture<AclCreateResult>();
            done.get(binding).whenComplete((nothing, error) -> result.complete(
                error == null ? AclCreateResult.SUCCESS : new AclCreateResult((ApiException) error)));
            return result;
        }).toList();
    }

    @Override
    public List<? extends CompletionStage<AclDeleteResult>> deleteAcls(
            AuthorizableRequestContext context, List<AclBindingFilter> filters) {
        var done = cluster.admin().deleteAcls(new HashSet<>(filters)).values();
        return filters.stream().map(filter -> {
            var result = new CompletableFuture<AclDeleteResult>();
            done.get(filter).whenComplete((found, error) -> result.complete(error == null
                ? new AclDeleteResult(found.values().stream()
                    .map(each -> new AclBindingDeleteResult(each.binding(), each.exception()))
                    .collect(Collectors.toList()))
                : new AclDeleteResult((ApiException) error)));
            return result;
        }).toList();
    }

    @Override
    public Iterable<AclBinding> acls(AclBindingFilter filter) {
        cluster.settle();
        try {
            Collection<AclBinding> found = cluster.admin().describeAcls(filter).values().get();
            return found;
        } catch (Exception error) {
            throw new IllegalStateException(error);
        }
    }

    @Override
    public Map<Endpoint, ? extends CompletionStage<Void>> start(AuthorizerServerInfo info) {
        throw new Inside("start of the authorizer");
    }

    @Override
    public List<AuthorizationResult> authorize(AuthorizableRequestContext context, List<Action> actions) {
        throw new Inside("decisions of the authorizer");
    }

    @Override
    public void configure(Map<String, ?> settings) { }

    @Override
    public void close() { }
}
