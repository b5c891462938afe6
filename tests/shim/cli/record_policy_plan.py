"""Record what a real broker answers before and after `policy plan --apply`.

    python -m tests.shim.cli.record_policy_plan PLAINTEXT_ADDRESS SASL_ADDRESS RELEASE

The broker is `tests/oracle`'s: anonymous is a super user, alice, bob and carol log in by PLAIN.
"""

import json
import sys
import tempfile
from pathlib import Path

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.create_topics_request import CreatableTopic, CreateTopicsRequest
from kafka_shim.protocol.messages.describe_groups_request import DescribeGroupsRequest
from kafka_shim.protocol.messages.metadata_request import MetadataRequest, MetadataRequestTopic
from kafka_shim.shim.cli import main
from kafka_shim.shim.client.client import connect
from kafka_shim.shim.client.config import read_client_config

RECORDED = Path(__file__).with_name("recorded_policy_plan.json")
TOPICS = ("orders", "orders-eu", "team-a", "team-secret-1", "zebra")
GROUPS = ("billing", "billing-1", "audit")
USERS = ("alice", "bob", "carol")
OLD = """
- {principal: User:alice, allow: [Read, Write], topic: orders, pattern: prefixed}
- {principal: User:bob, allow: All, topic: team-, pattern: prefixed}
- {principal: User:bob, allow: Read, group: billing}
- {principal: 'User:*', allow: Describe, topic: '*'}
- {principal: User:carol, deny: Describe, topic: zebra}
"""
NEW = """
- {principal: User:alice, allow: [Read, Alter], topic: orders}
- {principal: User:bob, allow: All, topic: team-, pattern: prefixed}
- {principal: User:bob, deny: [Write, Delete], topic: team-secret-, pattern: prefixed}
- {principal: User:bob, allow: [Read, Delete], group: billing, pattern: prefixed}
- {principal: User:carol, allow: DescribeConfigs, topic: '*'}
- {principal: 'User:*', allow: Describe, topic: '*'}
- {principal: 'User:*', allow: Describe, group: audit}
"""


def answers(sasl: str, folder: Path) -> dict[str, int]:
    """The authorized operations of each user on each topic and group; 0 for a refusal."""
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
            for topic in client.ask(ApiKey.METADATA, metadata).topics:
                bits = 0 if topic.error_code else topic.topic_authorized_operations
                found[f"{user} topic {topic.name}"] = bits
            groups = DescribeGroupsRequest(list(GROUPS), include_authorized_operations=True)
            for group in client.ask(ApiKey.DESCRIBE_GROUPS, groups).groups:
                is_refused = group.error_code == 30
                bits = 0 if is_refused else group.authorized_operations
                found[f"{user} group {group.group_id}"] = bits
    return found


def record(plain: str, sasl: str, release: str) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with connect(plain, read_client_config(None)) as client:
            topics = [CreatableTopic(topic, 1, 1) for topic in TOPICS]
            client.ask(ApiKey.CREATE_TOPICS, CreateTopicsRequest(topics))
        found = []
        for text in (OLD, NEW):
            (folder / "acls.yaml").write_text(text)
            words = [str(folder / "acls.yaml"), "--bootstrap-server", plain]
            assert main(["policy", "plan", *words, "--apply", "--yes"]) == 0
            assert main(["policy", "diff", *words, "--fail-on", "any"]) == 0
            found.append(answers(sasl, folder))
    content = {"release": release, "old": OLD, "new": NEW, "before": found[0], "after": found[1]}
    RECORDED.write_text(json.dumps(content, indent=1) + "\n")


if __name__ == "__main__":
    record(*sys.argv[1:4])
