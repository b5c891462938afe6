package io.github.kafkashim.tck;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.stream.StreamSupport;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.acl.AccessControlEntryFilter;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.acl.AclBindingFilter;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.acl.AclPermissionType;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourcePatternFilter;
import org.apache.kafka.common.resource.ResourceType;
import org.apache.kafka.common.security.auth.KafkaPrincipal;
import org.apache.kafka.metadata.authorizer.StandardAcl;
import org.apache.kafka.metadata.authorizer.StandardAuthorizer;
import org.apache.kafka.server.authorizer.AclCreateResult;
import org.apache.kafka.server.authorizer.Action;
import org.apache.kafka.server.authorizer.AuthorizableRequestContext;
import org.apache.kafka.server.authorizer.AuthorizationResult;

/** Kafka's authorizer with one mistake each. */
final class WrongAuthorizers {
    private WrongAuthorizers() {}

    /** The rule that an authorizer breaks. */
    @Retention(RetentionPolicy.RUNTIME)
    @interface Breaks {
        String value();
    }

    /** Stores other ACLs than it was given. */
    abstract static class OtherAcls extends StandardAuthorizer {
        /** Returns the ACL to store, or null for none. */
        abstract StandardAcl changed(StandardAcl acl);

        @Override
        public void addAcl(Uuid id, StandardAcl acl) {
            StandardAcl changed = changed(acl);
            if (changed != null) {
                super.addAcl(id, changed);
            }
        }

        void addBeside(StandardAcl acl, ResourceType type, AclOperation operation) {
            super.addAcl(Uuid.randomUuid(), new StandardAcl(type, acl.resourceName(), acl.patternType(),
                    acl.principal(), acl.host(), operation, acl.permissionType()));
        }

        static StandardAcl with(StandardAcl acl, String name, PatternType pattern, String host) {
            return new StandardAcl(acl.resourceType(), name, pattern, acl.principal(), host, acl.operation(),
                    acl.permissionType());
        }
    }

    /** Changes single decisions. */
    abstract static class OtherDecisions extends StandardAuthorizer {
        final Map<String, Object> config = new HashMap<>();

        abstract boolean isAllowed(AuthorizableRequestContext context, Action action, boolean isRight);

        @Override
        public void configure(Map<String, ?> configs) {
            config.putAll(configs);
            super.configure(configs);
        }

        @Override
        public List<AuthorizationResult> authorize(AuthorizableRequestContext context, List<Action> actions) {
            List<AuthorizationResult> results = new ArrayList<>();
            for (Action each : actions) {
                boolean isRight = super.authorize(context, List.of(each)).get(0) == AuthorizationResult.ALLOWED;
                boolean isAllowed = isAllowed(context, each, isRight);
                results.add(isAllowed ? AuthorizationResult.ALLOWED : AuthorizationResult.DENIED);
            }
            return results;
        }

        List<AclBinding> aclsOn(ResourcePattern resource, KafkaPrincipal principal) {
            var pattern = new ResourcePatternFilter(resource.resourceType(), resource.name(), PatternType.MATCH);
            var entry = new AccessControlEntryFilter(principal == null ? null : principal.toString(), null,
                    AclOperation.ANY, AclPermissionType.ANY);
            return StreamSupport.stream(acls(new AclBindingFilter(pattern, entry)).spliterator(), false).toList();
        }
    }

    @Breaks("deny-first")
    public static final class IgnoresDenyOnPrefixes extends OtherAcls {
        @Override
        StandardAcl changed(StandardAcl acl) {
            boolean isDeny = acl.permissionType() == AclPermissionType.DENY;
            return isDeny && acl.patternType() == PatternType.PREFIXED ? null : acl;
        }
    }

    @Breaks("deny-exact")
    public static final class DeniesDescribeWithRead extends OtherAcls {
        @Override
        StandardAcl changed(StandardAcl acl) {
            if (acl.permissionType() == AclPermissionType.DENY && acl.operation() == AclOperation.READ) {
                addBeside(acl, acl.resourceType(), AclOperation.DESCRIBE);
            }
            return acl;
        }
    }

    @Breaks("describe-implied")
    public static final class ForgetsThatDeleteImpliesDescribe extends OtherDecisions {
        @Override
        boolean isAllowed(AuthorizableRequestContext context, Action action, boolean isRight) {
            List<AclBinding> acls = aclsOn(action.resourcePattern(), context.principal());
            boolean isByDelete = !acls.isEmpty()
                    && acls.stream().allMatch(each -> each.entry().operation() == AclOperation.DELETE);
            return isRight && !(isByDelete && action.operation() == AclOperation.DESCRIBE);
        }
    }

    @Breaks("operation-exact")
    public static final class AllowsDescribeWithCreate extends OtherAcls {
        @Override
        StandardAcl changed(StandardAcl acl) {
            if (acl.permissionType() == AclPermissionType.ALLOW && acl.operation() == AclOperation.CREATE) {
                addBeside(acl, acl.resourceType(), AclOperation.DESCRIBE);
            }
            return acl;
        }
    }

    @Breaks("literal-names")
    public static final class ComparesNamesWithoutCase extends OtherDecisions {
        @Override
        boolean isAllowed(AuthorizableRequestContext context, Action action, boolean isRight) {
            var filter = new AclBindingFilter(
                    new ResourcePatternFilter(action.resourcePattern().resourceType(), null, PatternType.LITERAL),
                    new AccessControlEntryFilter(context.principal().toString(), "*", action.operation(),
                            AclPermissionType.ALLOW));
            return isRight || StreamSupport.stream(acls(filter).spliterator(), false)
                    .anyMatch(each -> each.pattern().name().equalsIgnoreCase(action.resourcePattern().name()));
        }
    }

    @Breaks("prefixes")
    public static final class CutsLongPrefixes extends OtherAcls {
        @Override
        StandardAcl changed(StandardAcl acl) {
            boolean isLong = acl.patternType() == PatternType.PREFIXED && acl.resourceName().length() > 20;
            return isLong ? with(acl, acl.resourceName().substring(0, 20), acl.patternType(), acl.host()) : acl;
        }
    }

    @Breaks("wildcard-name")
    public static final class TakesPrefixStarForAll extends OtherAcls {
        @Override
        StandardAcl changed(StandardAcl acl) {
            boolean isStar = acl.patternType() == PatternType.PREFIXED && acl.resourceName().equals("*");
            return isStar ? with(acl, "*", PatternType.LITERAL, acl.host()) : acl;
        }
    }

    @Breaks("principals")
    public static final class IgnoresTypesOfPrincipals extends OtherAcls {
        @Override
        StandardAcl changed(StandardAcl acl) {
            String user = "User:" + acl.principal().substring(acl.principal().indexOf(':') + 1);
            return new StandardAcl(acl.resourceType(), acl.resourceName(), acl.patternType(), user, acl.host(),
                    acl.operation(), acl.permissionType());
        }
    }

    @Breaks("super-users")
    public static final class ComparesSuperUsersWithoutCase extends OtherDecisions {
        @Override
        boolean isAllowed(AuthorizableRequestContext context, Action action, boolean isRight) {
            String users = ((String) config.getOrDefault("super.users", "")).toLowerCase(Locale.ROOT);
            return isRight || List.of(users.split(";")).contains(context.principal().toString().toLowerCase(Locale.ROOT));
        }
    }

    @Breaks("hosts")
    public static final class IgnoresHosts extends OtherAcls {
        @Override
        StandardAcl changed(StandardAcl acl) {
            return with(acl, acl.resourceName(), acl.patternType(), "*");
        }
    }

    @Breaks("networks")
    public static final class IgnoresNetworks extends OtherAcls {
        @Override
        StandardAcl changed(StandardAcl acl) {
            return acl.host().contains("/") ? null : acl;
        }
    }

    @Breaks("resource-types")
    public static final class AppliesAclsOfGroupsToTopics extends OtherAcls {
        @Override
        StandardAcl changed(StandardAcl acl) {
            if (acl.resourceType() == ResourceType.GROUP) {
                addBeside(acl, ResourceType.TOPIC, acl.operation());
            }
            return acl;
        }
    }

    @Breaks("decisions-apart")
    public static final class KeepsDecisionsWithoutOperation extends OtherDecisions {
        private final Map<String, Boolean> decisions = new HashMap<>();

        @Override
        boolean isAllowed(AuthorizableRequestContext context, Action action, boolean isRight) {
            return decisions.computeIfAbsent(context.principal() + " " + action.resourcePattern(), key -> isRight);
        }
    }

    @Breaks("any-resource-allow")
    public static final class LacksAuthorizeByResourceType extends StandardAuthorizer {
        @Override
        public AuthorizationResult authorizeByResourceType(
                AuthorizableRequestContext context, AclOperation operation, ResourceType type) {
            throw new UnsupportedOperationException();
        }
    }

    @Breaks("any-resource-deny")
    public static final class IgnoresDenyForAnyResource extends StandardAuthorizer {
        @Override
        public AuthorizationResult authorizeByResourceType(
                AuthorizableRequestContext context, AclOperation operation, ResourceType type) {
            var right = super.authorizeByResourceType(context, operation, type);
            var filter = new AclBindingFilter(
                    new ResourcePatternFilter(type, null, PatternType.PREFIXED),
                    new AccessControlEntryFilter(context.principal().toString(), "*", operation, AclPermissionType.ALLOW));
            return acls(filter).iterator().hasNext() ? AuthorizationResult.ALLOWED : right;
        }
    }

    @Breaks("any-resource-scope")
    public static final class TakesReadForWriteOnAnyResource extends StandardAuthorizer {
        @Override
        public AuthorizationResult authorizeByResourceType(
                AuthorizableRequestContext context, AclOperation operation, ResourceType type) {
            var right = super.authorizeByResourceType(context, operation, type);
            return right == AuthorizationResult.DENIED && operation == AclOperation.WRITE
                    ? super.authorizeByResourceType(context, AclOperation.READ, type)
                    : right;
        }
    }

    @Breaks("acl-filters")
    public static final class ListsMatchAsLiteral extends StandardAuthorizer {
        @Override
        public Iterable<AclBinding> acls(AclBindingFilter filter) {
            var pattern = filter.patternFilter();
            var type = pattern.patternType() == PatternType.MATCH ? PatternType.LITERAL : pattern.patternType();
            return super.acls(new AclBindingFilter(
                    new ResourcePatternFilter(pattern.resourceType(), pattern.name(), type), filter.entryFilter()));
        }
    }

    @Breaks("acl-results")
    public static final class ReturnsResultsInReverse extends StandardAuthorizer {
        @Override
        public List<? extends CompletionStage<AclCreateResult>> createAcls(
                AuthorizableRequestContext context, List<AclBinding> bindings) {
            var results = new ArrayList<>(super.createAcls(context, bindings));
            Collections.rotate(results, 1);
            return results;
        }
    }

    @Breaks("acl-changes")
    public static final class KeepsDeletedDeny extends StandardAuthorizer {
        private final Set<Uuid> denials = new HashSet<>();

        @Override
        public void addAcl(Uuid id, StandardAcl acl) {
            super.addAcl(id, acl);
            if (acl.permissionType() == AclPermissionType.DENY) {
                denials.add(id);
            }
        }

        @Override
        public void removeAcl(Uuid id) {
            if (!denials.contains(id)) {
                super.removeAcl(id);
            }
        }
    }

    @Breaks("everyone-allowed")
    public static final class AllowsEveryoneWithoutOwnAcl extends OtherDecisions {
        @Override
        boolean isAllowed(AuthorizableRequestContext context, Action action, boolean isRight) {
            boolean isOpen = "true".equals(config.get("allow.everyone.if.no.acl.found"));
            return isRight || isOpen && aclsOn(action.resourcePattern(), context.principal()).isEmpty();
        }
    }
}
