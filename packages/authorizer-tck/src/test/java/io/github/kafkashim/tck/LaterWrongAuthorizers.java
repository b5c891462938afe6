package io.github.kafkashim.tck;

import io.github.kafkashim.tck.WrongAuthorizers.Breaks;
import io.github.kafkashim.tck.WrongAuthorizers.OtherDecisions;
import java.text.Normalizer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.acl.AclBindingFilter;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.acl.AclPermissionType;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.security.auth.KafkaPrincipal;
import org.apache.kafka.metadata.authorizer.StandardAuthorizer;
import org.apache.kafka.server.authorizer.AclCreateResult;
import org.apache.kafka.server.authorizer.AclDeleteResult;
import org.apache.kafka.server.authorizer.Action;
import org.apache.kafka.server.authorizer.AuthorizableRequestContext;
import org.apache.kafka.server.authorizer.AuthorizationResult;

/** Mistakes that were planted when the rules were complete: of order, of state, of threads and of texts. */
final class LaterWrongAuthorizers {
    private LaterWrongAuthorizers() {}

    /** The ACL that was created last decides. */
    @Breaks("deny-first")
    public static final class FollowsTheLastAcl extends OtherDecisions {
        private final List<AclBinding> created = new ArrayList<>();

        @Override
        public List<? extends CompletionStage<AclCreateResult>> createAcls(
                AuthorizableRequestContext context, List<AclBinding> bindings) {
            created.addAll(bindings);
            return super.createAcls(context, bindings);
        }

        @Override
        boolean isAllowed(AuthorizableRequestContext context, Action action, boolean isRight) {
            List<AclBinding> acls = new ArrayList<>(aclsOn(action.resourcePattern(), context.principal()));
            acls.removeIf(each -> each.entry().operation() != action.operation() || !each.entry().host().equals("*"));
            acls.sort((one, other) -> created.indexOf(one) - created.indexOf(other));
            return acls.isEmpty() ? isRight
                    : acls.get(acls.size() - 1).entry().permissionType() == AclPermissionType.ALLOW;
        }
    }

    /** After a denied action, the rest of a batch is denied without a look. */
    @Breaks("batches")
    public static final class StopsAtTheFirstDenial extends StandardAuthorizer {
        @Override
        public List<AuthorizationResult> authorize(AuthorizableRequestContext context, List<Action> actions) {
            List<AuthorizationResult> results = new ArrayList<>(super.authorize(context, actions));
            int first = results.indexOf(AuthorizationResult.DENIED);
            for (int at = Math.max(first, 0); first >= 0 && at < results.size(); at++) {
                results.set(at, AuthorizationResult.DENIED);
            }
            return results;
        }
    }

    /** Decisions are kept until an ACL is created: a deleted one goes on to apply. */
    @Breaks("acl-changes")
    public static final class ForgetsDecisionsOnlyWhenCreating extends OtherDecisions {
        private final Map<String, Boolean> decisions = new HashMap<>();

        @Override
        public List<? extends CompletionStage<AclCreateResult>> createAcls(
                AuthorizableRequestContext context, List<AclBinding> bindings) {
            decisions.clear();
            return super.createAcls(context, bindings);
        }

        @Override
        boolean isAllowed(AuthorizableRequestContext context, Action action, boolean isRight) {
            String key = context.principal() + " " + context.clientAddress() + " " + action.operation()
                    + action.resourcePattern();
            return decisions.computeIfAbsent(key, each -> isRight);
        }
    }

    /** The context of the current request is in a field that all threads share. */
    @Breaks("threads")
    public static final class SharesItsContext extends StandardAuthorizer {
        private AuthorizableRequestContext current;

        @Override
        public List<AuthorizationResult> authorize(AuthorizableRequestContext context, List<Action> actions) {
            current = context;
            List<AuthorizationResult> results = new ArrayList<>();
            actions.forEach(each -> results.addAll(super.authorize(current, List.of(each))));
            return results;
        }
    }

    /** Names that look the same are the same: composed and decomposed letters. */
    @Breaks("literal-names")
    public static final class NormalizesNames extends StandardAuthorizer {
        @Override
        public List<AuthorizationResult> authorize(AuthorizableRequestContext context, List<Action> actions) {
            return super.authorize(context, actions.stream().map(NormalizesNames::normalized).toList());
        }

        private static Action normalized(Action action) {
            ResourcePattern pattern = action.resourcePattern();
            String name = Normalizer.normalize(pattern.name(), Normalizer.Form.NFC);
            return new Action(action.operation(),
                    new ResourcePattern(pattern.resourceType(), name, pattern.patternType()),
                    action.resourceReferenceCount(), action.logIfAllowed(), action.logIfDenied());
        }
    }

    /** ALL was expanded to a list of operations that newer releases have outgrown. */
    @Breaks("operation-exact")
    public static final class ExpandsAllToOldOperations extends OtherDecisions {
        @Override
        boolean isAllowed(AuthorizableRequestContext context, Action action, boolean isRight) {
            return isRight && action.operation().code() <= AclOperation.IDEMPOTENT_WRITE.code();
        }
    }

    /** `User:*` is taken for all users, not for all principals. */
    @Breaks("principals")
    public static final class TakesAllPrincipalsForUsers extends OtherDecisions {
        @Override
        boolean isAllowed(AuthorizableRequestContext context, Action action, boolean isRight) {
            boolean isUser = context.principal().getPrincipalType().equals(KafkaPrincipal.USER_TYPE);
            return isRight && (isUser || !aclsOn(action.resourcePattern(), context.principal()).isEmpty());
        }
    }

    /** The results of a batch are in the order in which types of resources were looked up. */
    @Breaks("batches")
    public static final class SortsActionsByType extends StandardAuthorizer {
        @Override
        public List<AuthorizationResult> authorize(AuthorizableRequestContext context, List<Action> actions) {
            return super.authorize(context, actions.stream()
                    .sorted(Comparator.comparing(each -> each.resourcePattern().resourceType())).toList());
        }
    }

    /** The key of kept decisions lacks the address. */
    @Breaks("decisions-apart")
    public static final class KeepsDecisionsWithoutAddress extends OtherDecisions {
        private final Map<String, Boolean> decisions = new HashMap<>();

        @Override
        boolean isAllowed(AuthorizableRequestContext context, Action action, boolean isRight) {
            String key = context.principal() + " " + action.operation() + action.resourcePattern() + aclCount();
            return decisions.computeIfAbsent(key, each -> isRight);
        }
    }

    /** The separator of super users is that of other lists. */
    @Breaks("super-user-list")
    public static final class SplitsSuperUsersAtCommas extends StandardAuthorizer {
        @Override
        public void configure(Map<String, ?> configs) {
            Map<String, Object> changed = new HashMap<>(configs);
            changed.computeIfPresent("super.users", (key, users) -> users.toString().replace(',', ';'));
            super.configure(changed);
        }
    }

    /** A list of ACLs is read while it changes. */
    @Breaks("acl-storage")
    public static final class ListsWhatChanges extends StandardAuthorizer {
        private final List<AclBinding> created = new ArrayList<>();

        @Override
        public List<? extends CompletionStage<AclCreateResult>> createAcls(
                AuthorizableRequestContext context, List<AclBinding> bindings) {
            bindings.stream().filter(each -> !created.contains(each)).forEach(created::add);
            return super.createAcls(context, bindings);
        }

        @Override
        public Iterable<AclBinding> acls(AclBindingFilter filter) {
            return () -> created.stream().filter(filter::matches).iterator();
        }
    }

    /** Deletions never end; each case waits for them, so one rule is enough. */
    public static final class NeverDeletes extends StandardAuthorizer {
        @Override
        public List<? extends CompletionStage<AclDeleteResult>> deleteAcls(
                AuthorizableRequestContext context, List<AclBindingFilter> filters) {
            return filters.stream().map(each -> new CompletableFuture<AclDeleteResult>()).toList();
        }
    }
}
