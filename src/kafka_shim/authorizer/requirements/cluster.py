"""Requirements of the APIs for ACLs, the cluster, its brokers, users and quotas."""

from kafka_shim.authorizer.requirement import NEWEST, Denial, DenialEffect, Requirement
from kafka_shim.authorizer.requirements import terms
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.error_codes import ErrorCode

DESCRIBE_ACLS = Requirement(
    api=ApiKey.DESCRIBE_ACLS,
    any_of=terms.CLUSTER_DESCRIBE,
    denied=terms.CLUSTER_TOP,
    kip=140,
    source="AclApis",
)
CREATE_ACLS = Requirement(
    api=ApiKey.CREATE_ACLS,
    any_of=terms.CLUSTER_ALTER,
    denied=terms.CLUSTER_EACH,
    kip=140,
    source="AclApis",
    note="the response to an empty request has no error",
)
DELETE_ACLS = Requirement(
    api=ApiKey.DELETE_ACLS,
    any_of=terms.CLUSTER_ALTER,
    denied=terms.CLUSTER_EACH,
    kip=140,
    source="AclApis",
    note="the response to an empty request has no error",
)

ALTER_REPLICA_LOG_DIRS = Requirement(
    api=ApiKey.ALTER_REPLICA_LOG_DIRS,
    any_of=terms.CLUSTER_ALTER,
    denied=terms.CLUSTER_EACH,
    kip=113,
)
DESCRIBE_LOG_DIRS = Requirement(
    api=ApiKey.DESCRIBE_LOG_DIRS,
    any_of=terms.CLUSTER_DESCRIBE,
    denied=(
        Denial(ErrorCode.CLUSTER_AUTHORIZATION_FAILED, DenialEffect.EMPTY, (0, 2)),
        Denial(ErrorCode.CLUSTER_AUTHORIZATION_FAILED, DenialEffect.TOP, (3, NEWEST)),
    ),
    kip=113,
)

ELECT_LEADERS = Requirement(
    api=ApiKey.ELECT_LEADERS,
    any_of=terms.CLUSTER_ALTER,
    denied=(
        Denial(ErrorCode.CLUSTER_AUTHORIZATION_FAILED, DenialEffect.EACH, (0, 0)),
        Denial(
            ErrorCode.CLUSTER_AUTHORIZATION_FAILED,
            DenialEffect.BOTH,
            (1, NEWEST),
        ),
    ),
    kip=460,
    source="ControllerApis",
    note="the KRaft controller of 3.0 does not support the request",
)
ALTER_PARTITION_REASSIGNMENTS = Requirement(
    api=ApiKey.ALTER_PARTITION_REASSIGNMENTS,
    any_of=terms.CLUSTER_ALTER,
    denied=terms.CLUSTER_BOTH,
    kip=455,
    source="ControllerApis",
)
LIST_PARTITION_REASSIGNMENTS = Requirement(
    api=ApiKey.LIST_PARTITION_REASSIGNMENTS,
    any_of=terms.CLUSTER_DESCRIBE,
    denied=terms.CLUSTER_TOP,
    kip=455,
    source="ControllerApis",
)

DESCRIBE_CLIENT_QUOTAS = Requirement(
    api=ApiKey.DESCRIBE_CLIENT_QUOTAS,
    any_of=terms.CLUSTER_DESCRIBE_CONFIGS,
    denied=terms.CLUSTER_TOP,
    kip=546,
)
ALTER_CLIENT_QUOTAS = Requirement(
    api=ApiKey.ALTER_CLIENT_QUOTAS,
    any_of=terms.CLUSTER_ALTER_CONFIGS,
    denied=terms.CLUSTER_EACH,
    kip=546,
    source="ControllerApis",
    note="the response to an empty request has no error",
)
DESCRIBE_USER_SCRAM_CREDENTIALS = Requirement(
    api=ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS,
    any_of=terms.CLUSTER_DESCRIBE,
    denied=terms.CLUSTER_BOTH,
    kip=554,
)
ALTER_USER_SCRAM_CREDENTIALS = Requirement(
    api=ApiKey.ALTER_USER_SCRAM_CREDENTIALS,
    any_of=terms.CLUSTER_ALTER,
    denied=terms.CLUSTER_EACH,
    kip=554,
    source="ControllerApis",
)

DESCRIBE_QUORUM = Requirement(
    api=ApiKey.DESCRIBE_QUORUM,
    any_of=terms.CLUSTER_DESCRIBE,
    denied=terms.CLUSTER_TOP,
    kip=595,
    source="ControllerApis",
)
UPDATE_FEATURES = Requirement(
    api=ApiKey.UPDATE_FEATURES,
    any_of=terms.CLUSTER_ALTER,
    denied=terms.CLUSTER_TOP,
    kip=584,
    source="ControllerApis",
    note="the KRaft controller of 3.2 does not support the request",
)
DESCRIBE_CLUSTER_OPERATIONS = Requirement(
    api=ApiKey.DESCRIBE_CLUSTER,
    name="cluster_operations",
    any_of=terms.CLUSTER_DESCRIBE,
    denied=terms.BY_VALUE,
    when="include_cluster_authorized_operations is true",
    kip=700,
    source="AuthHelper",
    note="denied: cluster_authorized_operations is 0",
)
UNREGISTER_BROKER = Requirement(
    api=ApiKey.UNREGISTER_BROKER,
    any_of=terms.CLUSTER_ALTER,
    denied=terms.CLUSTER_TOP,
    kip=631,
    source="ControllerApis",
)
UNREGISTER_CONTROLLER = Requirement(
    api=ApiKey.UNREGISTER_CONTROLLER,
    any_of=terms.CLUSTER_ALTER,
    denied=terms.CLUSTER_TOP,
    source="ControllerApis of 4.4",
)
ADD_RAFT_VOTER = Requirement(
    api=ApiKey.ADD_RAFT_VOTER,
    any_of=terms.CLUSTER_ALTER,
    denied=terms.CLUSTER_TOP,
    kip=853,
    source="ControllerApis",
)
REMOVE_RAFT_VOTER = Requirement(
    api=ApiKey.REMOVE_RAFT_VOTER,
    any_of=terms.CLUSTER_ALTER,
    denied=terms.CLUSTER_TOP,
    kip=853,
    source="ControllerApis",
)


LEADER_AND_ISR = Requirement(
    api=ApiKey.LEADER_AND_ISR,
    any_of=terms.CLUSTER_ACTION,
    denied=terms.CLUSTER_BOTH,
)
STOP_REPLICA = Requirement(
    api=ApiKey.STOP_REPLICA,
    any_of=terms.CLUSTER_ACTION,
    denied=terms.CLUSTER_BOTH,
)
UPDATE_METADATA = Requirement(
    api=ApiKey.UPDATE_METADATA,
    any_of=terms.CLUSTER_ACTION,
    denied=terms.CLUSTER_TOP,
)
CONTROLLED_SHUTDOWN = Requirement(
    api=ApiKey.CONTROLLED_SHUTDOWN,
    any_of=terms.CLUSTER_ACTION,
    denied=terms.CLUSTER_TOP,
)
ALTER_PARTITION = Requirement(
    api=ApiKey.ALTER_PARTITION,
    any_of=terms.CLUSTER_ACTION,
    denied=terms.CLUSTER_TOP,
    kip=497,
)
ENVELOPE = Requirement(
    api=ApiKey.ENVELOPE,
    any_of=terms.CLUSTER_ACTION,
    denied=terms.CLUSTER_TOP,
    since="2.8",
    until="4.0",
    kip=590,
    note="3.4 to 3.9: only brokers on ZooKeeper advertise it",
)
ALLOCATE_PRODUCER_IDS = Requirement(
    api=ApiKey.ALLOCATE_PRODUCER_IDS,
    any_of=terms.CLUSTER_ACTION,
    denied=terms.CLUSTER_TOP,
    since="3.0",
    until="4.0",
    kip=730,
    note="3.0 to 3.9: only brokers on ZooKeeper advertise it",
)
