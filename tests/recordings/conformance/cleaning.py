"""Cleans a cluster after a scenario, so that the next one's responses do not depend on it."""

from typing import Any, Final

import msgspec

from kafka_shim.protocol.codec.catalogue import message_classes_by_name
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.delete_acls import DeleteAclsRequest
from kafka_shim.protocol.messages.describe_delegation_token import (
    DescribeDelegationTokenRequest,
)
from kafka_shim.protocol.messages.expire_delegation_token import (
    ExpireDelegationTokenRequest,
)
from kafka_shim.protocol.messages.metadata import MetadataRequest
from kafka_shim.protocol.messages.share_fetch import ShareFetchRequest
from tests.recordings.conformance.scenario import Scenario, Step
from tests.recordings.peers.peer import ROOT, Peer, ask, ask_root, versions
from tests.recordings.peers.topics import delete
from tests.support.acl_filters import deleted_acls

DELETE: Final = 1
BROKER: Final = 4
LAST_EPOCH: Final = -1


def clean_up(scenario: Scenario, peer: Peer) -> None:
    """Remove ACLs, topics, tokens, quotas, dynamic broker settings, passwords and sessions."""
    ask_root(peer, ApiKey.DELETE_ACLS, DeleteAclsRequest(filters=[deleted_acls()]))
    _delete_topics(scenario, peer)
    touched = {step.api for step in scenario.steps}
    if ApiKey.CREATE_DELEGATION_TOKEN.wire_name in touched:
        for user in {step.user for step in scenario.steps} - {ROOT}:
            _expire_tokens(user, peer)
    for step in scenario.steps:
        undo = _UNDO.get(step.api)
        if undo is not None and not step.request.get("validate_only"):
            undo(step, peer)


def _delete_topics(scenario: Scenario, peer: Peer) -> None:
    """Delete the scenario's topics, including those that its steps created."""
    asked = MetadataRequest(topics=None)
    prefix = scenario.prefix
    names = [
        topic.name
        for topic in ask_root(peer, ApiKey.METADATA, asked).topics
        if topic.name and topic.name.startswith((f"{prefix}-", f"{prefix}."))
    ]
    delete(peer, names)


def _expire_tokens(user: str, peer: Peer) -> None:
    mine = DescribeDelegationTokenRequest(owners=None)
    version = versions(peer.release, ApiKey.DESCRIBE_DELEGATION_TOKEN)[-1]
    response = ask(peer, user, ApiKey.DESCRIBE_DELEGATION_TOKEN, version, mine)
    for token in [] if isinstance(response, str) else response.tokens:
        request = ExpireDelegationTokenRequest(hmac=token.hmac, expiry_time_period_ms=-1)
        version = versions(peer.release, ApiKey.EXPIRE_DELEGATION_TOKEN)[-1]
        ask(peer, user, ApiKey.EXPIRE_DELEGATION_TOKEN, version, request)


def _undo_quotas(step: Step, peer: Peer) -> None:
    request = _request(step)
    for entry in request.entries:
        for op in entry.ops:
            op.remove = True
    ask_root(peer, ApiKey.ALTER_CLIENT_QUOTAS, request)


def _undo_settings(step: Step, peer: Peer) -> None:
    request = _request(step)
    request.resources = [
        resource for resource in request.resources if resource.resource_type == BROKER
    ]
    for resource in request.resources:
        for config in resource.configs:
            config.config_operation, config.value = DELETE, None
    ask_root(peer, ApiKey.INCREMENTAL_ALTER_CONFIGS, request)


def _undo_passwords(step: Step, peer: Peer) -> None:
    message = message_classes_by_name("AlterUserScramCredentialsRequest")
    deletion = message["ScramCredentialDeletion"]
    for upsertion in _request(step).upsertions:
        request = message["AlterUserScramCredentialsRequest"](
            deletions=[deletion(name=upsertion.name, mechanism=upsertion.mechanism)]
        )
        ask_root(peer, ApiKey.ALTER_USER_SCRAM_CREDENTIALS, request)


def _end_share_session(step: Step, peer: Peer) -> None:
    """End a share session, which other scenarios with the same group and member would continue.

    A real broker keeps the session if the client disconnects while it waits for a response.
    """
    asked = _request(step)
    request = ShareFetchRequest(
        group_id=asked.group_id, member_id=asked.member_id, share_session_epoch=LAST_EPOCH
    )
    ask_root(peer, ApiKey.SHARE_FETCH, request)


_UNDO: Final = {
    ApiKey.ALTER_CLIENT_QUOTAS.wire_name: _undo_quotas,
    ApiKey.INCREMENTAL_ALTER_CONFIGS.wire_name: _undo_settings,
    ApiKey.ALTER_USER_SCRAM_CREDENTIALS.wire_name: _undo_passwords,
    ApiKey.SHARE_FETCH.wire_name: _end_share_session,
}


def _request(step: Step) -> Any:
    name = f"{step.api}Request"
    return msgspec.convert(step.request, message_classes_by_name(name)[name])
