"""Requirements of the APIs for settings of topics, groups, and brokers (on the cluster)."""

from kafka_shim.authorizer.requirement import NeedAlternative, ReportedMissing, Requirement
from kafka_shim.authorizer.requirements import terms
from kafka_shim.protocol.enums import ApiKey, Operation, ResourceType
from kafka_shim.protocol.error_codes import ErrorCode

_CLUSTER_TYPES = "resource_type is BROKER, BROKER_LOGGER (since 2.4) or CLIENT_METRICS (since 3.7)"
_HIDDEN = ReportedMissing(
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, until="1.0", before_operation_check=False
)

DESCRIBE_CONFIGS_CLUSTER = Requirement(
    api=ApiKey.DESCRIBE_CONFIGS,
    any_of=terms.CLUSTER_DESCRIBE_CONFIGS,
    denied=terms.CLUSTER_EACH,
    when=_CLUSTER_TYPES,
    kip=133,
    source="ConfigHelper",
)
DESCRIBE_CONFIGS_TOPIC = Requirement(
    api=ApiKey.DESCRIBE_CONFIGS,
    any_of=(NeedAlternative(Operation.DESCRIBE_CONFIGS, ResourceType.TOPIC),),
    denied=terms.TOPIC_EACH,
    hidden=_HIDDEN,
    names=("resources[].resource_name",),
    when="resource_type is TOPIC",
    kip=133,
    source="ConfigHelper",
)
DESCRIBE_CONFIGS_GROUP = Requirement(
    api=ApiKey.DESCRIBE_CONFIGS,
    any_of=(NeedAlternative(Operation.DESCRIBE_CONFIGS, ResourceType.GROUP, since="4.0"),),
    denied=terms.GROUP_EACH,
    names=("resources[].resource_name",),
    when="resource_type is GROUP",
    kip=848,
    source="ConfigHelper",
)

ALTER_CONFIGS_CLUSTER = Requirement(
    api=ApiKey.ALTER_CONFIGS,
    any_of=terms.CLUSTER_ALTER_CONFIGS,
    denied=terms.CLUSTER_EACH,
    when="resource_type is BROKER or CLIENT_METRICS (since 3.7)",
    kip=133,
    source="ControllerApis",
)
ALTER_CONFIGS_TOPIC = Requirement(
    api=ApiKey.ALTER_CONFIGS,
    any_of=(NeedAlternative(Operation.ALTER_CONFIGS, ResourceType.TOPIC),),
    denied=terms.TOPIC_EACH,
    hidden=_HIDDEN,
    names=("resources[].resource_name",),
    when="resource_type is TOPIC",
    kip=133,
    source="ControllerApis",
)
ALTER_CONFIGS_GROUP = Requirement(
    api=ApiKey.ALTER_CONFIGS,
    any_of=(NeedAlternative(Operation.ALTER_CONFIGS, ResourceType.GROUP, since="4.0"),),
    denied=terms.GROUP_EACH,
    names=("resources[].resource_name",),
    when="resource_type is GROUP",
    kip=848,
    source="ControllerApis",
)

INCREMENTAL_ALTER_CONFIGS_CLUSTER = Requirement(
    api=ApiKey.INCREMENTAL_ALTER_CONFIGS,
    any_of=terms.CLUSTER_ALTER_CONFIGS,
    denied=terms.CLUSTER_EACH,
    when=_CLUSTER_TYPES,
    kip=339,
    source="ControllerApis",
    note="on KRaft the broker that gets the request makes the check of BROKER_LOGGER, not the"
    " controller",
)
INCREMENTAL_ALTER_CONFIGS_TOPIC = Requirement(
    api=ApiKey.INCREMENTAL_ALTER_CONFIGS,
    any_of=(NeedAlternative(Operation.ALTER_CONFIGS, ResourceType.TOPIC),),
    denied=terms.TOPIC_EACH,
    names=("resources[].resource_name",),
    when="resource_type is TOPIC",
    kip=339,
    source="ControllerApis",
)
INCREMENTAL_ALTER_CONFIGS_GROUP = Requirement(
    api=ApiKey.INCREMENTAL_ALTER_CONFIGS,
    any_of=(NeedAlternative(Operation.ALTER_CONFIGS, ResourceType.GROUP, since="4.0"),),
    denied=terms.GROUP_EACH,
    names=("resources[].resource_name",),
    when="resource_type is GROUP",
    kip=848,
    source="ControllerApis",
)

LIST_CONFIG_RESOURCES = Requirement(
    api=ApiKey.LIST_CONFIG_RESOURCES,
    any_of=terms.CLUSTER_DESCRIBE_CONFIGS,
    denied=terms.CLUSTER_TOP,
    kip=1142,
)
