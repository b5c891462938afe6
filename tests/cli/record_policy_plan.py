"""Record a real broker's decisions before and after `policy plan --apply`, and after a failed plan.

    python -m tests.cli.record_policy_plan PLAINTEXT_ADDRESS SASL_ADDRESS RELEASE

The broker is that of `tests/oracle`: User:ANONYMOUS is a super user, and alice, bob and carol log
in with PLAIN.
"""

import json
import sys
import tempfile
import time
from pathlib import Path

from kafka_shim.authorizer.model import Acl
from kafka_shim.cli import main
from kafka_shim.client.acls import describe_acls
from kafka_shim.client.client import Client, connect
from kafka_shim.client.config import read_client_config
from kafka_shim.protocol.enums import CLUSTER_NAME, ApiKey
from kafka_shim.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from kafka_shim.protocol.messages.describe_cluster import DescribeClusterRequest
from kafka_shim.protocol.messages.describe_groups import DescribeGroupsRequest
from kafka_shim.protocol.messages.find_coordinator import FindCoordinatorRequest
from kafka_shim.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from kafka_shim.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)

RECORDED = Path(__file__).with_name("recorded_policy_plan.json")
TOPICS = ("orders", "orders-eu", "team-a", "team-secret-1", "zebra")
GROUPS = ("billing", "billing-1", "audit")
USERS = ("alice", "bob", "carol")
TRIES = 100
OFFSET_COMMIT_BY_NAME = 9
OLD = """
- {principal: User:alice, allow: [Read, Write], topic: orders, pattern: prefixed}
- {principal: User:bob, allow: All, topic: team-, pattern: prefixed}
- {principal: User:bob, allow: Read, group: billing}
- {principal: 'User:*', allow: Describe, topic: '*'}
- {principal: 'User:*', allow: Describe, group: '*'}
- {principal: 'User:*', allow: Describe, cluster: }
- {principal: User:carol, allow: Alter, topic: '*'}
- {principal: User:carol, deny: Describe, topic: zebra}
- {principal: User:alice, allow: All, cluster: , host: 127.0.0.0/8}
- {principal: User:alice, deny: Alter, cluster: , host: 10.0.0.1}
"""
NEW = """
- {principal: User:alice, allow: [Read, Alter], topic: orders}
- {principal: User:bob, allow: All, topic: team-, pattern: prefixed}
- {principal: User:bob, deny: [Write, Delete], topic: team-secret-, pattern: prefixed}
- {principal: User:bob, allow: [Read, Delete], group: billing, pattern: prefixed}
- {principal: User:carol, allow: DescribeConfigs, topic: '*'}
- {principal: 'User:*', allow: Describe, topic: '*'}
- {principal: 'User:*', allow: Describe, group: '*'}
- {principal: 'User:*', allow: Describe, cluster: }
- {principal: 'User:*', allow: DescribeConfigs, group: audit}
- {principal: User:alice, allow: All, cluster: , host: 127.0.0.0/8}
- {principal: User:alice, deny: [Alter, ClusterAction], cluster: , host: 127.0.0.0/16}
- {principal: User:bob, allow: Create, cluster: , host: 10.0.0.0/8}
"""
REFUSED = "- {principal: User:zoe, allow: Read, topic: t, host: 10.0.0.0/99}\n"
"""An ACL that 4.4 rejects and 4.3 accepts."""
MANY = 1200
"""Number of ACLs in the failing step: more than fit into one request."""


def responses(sasl: str, folder: Path) -> dict[str, int]:
    """Return each user's authorized operations on topics, groups and cluster; 0 if denied."""
    found = {}
    for user in USERS:
        path = folder / f"{user}.properties"
        path.write_text(
            "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\n"
            f"username={user}\npassword={user}-secret\n"
        )
        with connect(sasl, read_client_config(str(path))) as client:
            metadata = MetadataRequest(
                [MetadataRequestTopic(name=name) for name in TOPICS],
                allow_auto_topic_creation=False,
                include_topic_authorized_operations=True,
            )
            for topic in client.send_request(ApiKey.METADATA, metadata).topics:
                bits = 0 if topic.error_code else topic.topic_authorized_operations
                found[f"{user} topic {topic.name}"] = bits
            groups = DescribeGroupsRequest(list(GROUPS), include_authorized_operations=True)
            for group in client.send_request(ApiKey.DESCRIBE_GROUPS, groups).groups:
                is_refused = group.error_code == 30
                bits = 0 if is_refused else group.authorized_operations
                found[f"{user} group {group.group_id}"] = bits
            asked = DescribeClusterRequest(include_cluster_authorized_operations=True)
            cluster = client.send_request(ApiKey.DESCRIBE_CLUSTER, asked)
            found[f"{user} cluster {CLUSTER_NAME}"] = cluster.cluster_authorized_operations
    return dict(sorted(found.items()))


def make_groups(client: Client) -> None:
    """Commit offsets so that the groups exist: a missing group has no authorized operations."""
    partition = OffsetCommitRequestPartition(0, 0)
    topics = [OffsetCommitRequestTopic(name=TOPICS[0], partitions=[partition])]
    for group in GROUPS:
        for _ in range(TRIES):
            finding = FindCoordinatorRequest(key_type=0, coordinator_keys=[group])
            client.send_request(ApiKey.FIND_COORDINATOR, finding)
            commit = OffsetCommitRequest(group_id=group, topics=topics)
            response = client.send_request(ApiKey.OFFSET_COMMIT, commit, OFFSET_COMMIT_BY_NAME)
            if response.topics[0].partitions[0].error_code == 0:
                break
            time.sleep(0.2)  # a real broker first creates __consumer_offsets
        else:
            raise AssertionError(f"no offsets of {group}")


def failed_plan(plain: str, folder: Path) -> dict[str, object]:
    """Apply a plan whose second request is partly rejected.

    Return the exit code, and whether the ACLs are as before.
    """
    text = NEW + "".join(
        f"- {{principal: User:new-{number:04}, allow: Read, topic: t}}\n" for number in range(MANY)
    )
    before = listed(plain)
    (folder / "refused.yaml").write_text(text + REFUSED)
    words = [str(folder / "refused.yaml"), "--bootstrap-server", plain]
    code = main(["policy", "plan", *words, "--kafka-version", "4.3.1", "--apply", "--yes"])
    return {"exit_code": code, "acls_are_as_before": listed(plain) == before}


def listed(plain: str) -> set[Acl]:
    with connect(plain, read_client_config(None)) as client:
        return set(describe_acls(client))


def record(plain: str, sasl: str, release: str) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with connect(plain, read_client_config(None)) as client:
            topics = [CreatableTopic(topic, 1, 1) for topic in TOPICS]
            client.send_request(ApiKey.CREATE_TOPICS, CreateTopicsRequest(topics))
            make_groups(client)
        found = []
        for text in (OLD, NEW):
            (folder / "acls.yaml").write_text(text)
            words = [str(folder / "acls.yaml"), "--bootstrap-server", plain]
            assert main(["policy", "plan", *words, "--apply", "--yes"]) == 0
            assert main(["policy", "diff", *words, "--fail-on", "any"]) == 0
            found.append(responses(sasl, folder))
        content = {"release": release, "old": OLD, "new": NEW, "before": found[0]}
        content |= {"after": found[1], "failed": failed_plan(plain, folder)}
    RECORDED.write_text(json.dumps(content, indent=1) + "\n")


if __name__ == "__main__":
    record(*sys.argv[1:4])
