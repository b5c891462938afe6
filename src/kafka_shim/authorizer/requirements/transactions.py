"""Requirements of the APIs for producers and transactions."""

from kafka_shim.authorizer.requirement import NEWEST, NeedAlternative, Requirement
from kafka_shim.authorizer.requirements import terms
from kafka_shim.protocol.enums import ApiKey, Operation, ResourceType

INIT_PRODUCER_ID_TRANSACTIONAL = Requirement(
    api=ApiKey.INIT_PRODUCER_ID,
    any_of=terms.TRANSACTIONAL_ID_WRITE,
    denied=terms.TRANSACTIONAL_ID_TOP,
    when="transactional_id is not null",
    kip=98,
)
INIT_PRODUCER_ID_TWO_PHASE_COMMIT = Requirement(
    api=ApiKey.INIT_PRODUCER_ID,
    name="two_phase_commit",
    any_of=(
        NeedAlternative(Operation.TWO_PHASE_COMMIT, ResourceType.TRANSACTIONAL_ID, since="4.1"),
    ),
    denied=terms.TRANSACTIONAL_ID_TOP,
    versions=(6, NEWEST),
    when="enable2_pc is true",
    kip=939,
)
INIT_PRODUCER_ID_IDEMPOTENT = Requirement(
    api=ApiKey.INIT_PRODUCER_ID,
    name="idempotent",
    any_of=(
        *terms.needs_logged_before(Operation.IDEMPOTENT_WRITE, ResourceType.CLUSTER, release="2.8"),
        NeedAlternative(
            Operation.WRITE, ResourceType.TOPIC, since="2.8", until="3.0", any_name=True
        ),
        NeedAlternative(
            Operation.WRITE, ResourceType.TOPIC, since="3.0", any_name=True, log_if_denied=False
        ),
    ),
    denied=terms.CLUSTER_TOP,
    when="transactional_id is null",
    kip=679,
)

ADD_PARTITIONS_TO_TXN_TRANSACTIONAL_ID = Requirement(
    api=ApiKey.ADD_PARTITIONS_TO_TXN,
    any_of=terms.TRANSACTIONAL_ID_WRITE,
    denied=terms.TRANSACTIONAL_ID_EACH,
    names=("v3_and_below_transactional_id",),
    versions=(0, 3),
    kip=98,
)
ADD_PARTITIONS_TO_TXN_TOPIC = Requirement(
    api=ApiKey.ADD_PARTITIONS_TO_TXN,
    any_of=terms.TOPIC_WRITE,
    denied=terms.TOPIC_EACH,
    hidden=terms.HIDDEN,
    names=("v3_and_below_topics[].name",),
    versions=(0, 3),
    when="the topic is not internal",
    kip=98,
    note="internal topics are denied to everyone;"
    " if a partition fails, the others are OPERATION_NOT_ATTEMPTED (55)",
)
ADD_PARTITIONS_TO_TXN_CLUSTER = Requirement(
    api=ApiKey.ADD_PARTITIONS_TO_TXN,
    any_of=terms.CLUSTER_ACTION,
    denied=terms.CLUSTER_TOP,
    versions=(4, NEWEST),
    kip=890,
    note="sent by brokers; nothing else is checked",
)

ADD_OFFSETS_TO_TXN_TRANSACTIONAL_ID = Requirement(
    api=ApiKey.ADD_OFFSETS_TO_TXN,
    any_of=terms.TRANSACTIONAL_ID_WRITE,
    denied=terms.TRANSACTIONAL_ID_TOP,
    kip=98,
)
ADD_OFFSETS_TO_TXN_GROUP = Requirement(
    api=ApiKey.ADD_OFFSETS_TO_TXN,
    any_of=terms.GROUP_READ,
    denied=terms.GROUP_TOP,
    kip=98,
)

END_TXN = Requirement(
    api=ApiKey.END_TXN,
    any_of=terms.TRANSACTIONAL_ID_WRITE,
    denied=terms.TRANSACTIONAL_ID_TOP,
    kip=98,
)

WRITE_TXN_MARKERS = Requirement(
    api=ApiKey.WRITE_TXN_MARKERS,
    any_of=(
        NeedAlternative(Operation.ALTER, ResourceType.CLUSTER, since="3.8", log_if_denied=False),
        NeedAlternative(Operation.CLUSTER_ACTION, ResourceType.CLUSTER),
    ),
    denied=terms.CLUSTER_EACH,
    kip=1037,
)

TXN_OFFSET_COMMIT_TRANSACTIONAL_ID = Requirement(
    api=ApiKey.TXN_OFFSET_COMMIT,
    any_of=terms.TRANSACTIONAL_ID_WRITE,
    denied=terms.TRANSACTIONAL_ID_EACH,
    kip=98,
)
TXN_OFFSET_COMMIT_GROUP = Requirement(
    api=ApiKey.TXN_OFFSET_COMMIT,
    any_of=terms.GROUP_READ,
    denied=terms.GROUP_EACH,
    kip=98,
)
TXN_OFFSET_COMMIT_TOPIC = Requirement(
    api=ApiKey.TXN_OFFSET_COMMIT,
    any_of=terms.TOPIC_READ,
    denied=terms.TOPIC_EACH,
    hidden=terms.HIDDEN,
    names=("topics[].name", "topics[].topic_id"),
    kip=98,
)

DESCRIBE_TRANSACTIONS_TRANSACTIONAL_ID = Requirement(
    api=ApiKey.DESCRIBE_TRANSACTIONS,
    any_of=terms.TRANSACTIONAL_ID_DESCRIBE,
    denied=terms.TRANSACTIONAL_ID_EACH,
    names=("transactional_ids[]",),
    kip=664,
)
DESCRIBE_TRANSACTIONS_TOPIC = Requirement(
    api=ApiKey.DESCRIBE_TRANSACTIONS,
    any_of=terms.TOPIC_DESCRIBE,
    denied=terms.LEFT_OUT,
    names=("response.transaction_states[].topics[].topic",),
    kip=664,
)

LIST_TRANSACTIONS = Requirement(
    api=ApiKey.LIST_TRANSACTIONS,
    any_of=terms.TRANSACTIONAL_ID_DESCRIBE,
    denied=terms.LEFT_OUT,
    names=("response.transaction_states[].transactional_id",),
    kip=664,
)
