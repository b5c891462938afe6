"""Requirements of the APIs for delegation tokens; most of them are ownership, not ACLs."""

from kafka_shim.authorizer.requirement import (
    NEWEST,
    Denial,
    DenialEffect,
    NeedAlternative,
    Requirement,
)
from kafka_shim.authorizer.requirements import terms
from kafka_shim.protocol.enums import ApiKey, Operation, ResourceType
from kafka_shim.protocol.error_codes import ErrorCode

CREATE_DELEGATION_TOKEN_OWNER = Requirement(
    api=ApiKey.CREATE_DELEGATION_TOKEN,
    name="owner",
    any_of=(NeedAlternative(Operation.CREATE_TOKENS, ResourceType.USER, since="3.3"),),
    denied=(Denial(ErrorCode.DELEGATION_TOKEN_AUTHORIZATION_FAILED, DenialEffect.TOP),),
    names=("owner_principal_type:owner_principal_name",),
    versions=(3, NEWEST),
    when="the owner is not the requester",
    kip=373,
    note="before this check, a connection that may not create tokens is"
    " DELEGATION_TOKEN_REQUEST_NOT_ALLOWED (64)",
)
DESCRIBE_DELEGATION_TOKEN = Requirement(
    api=ApiKey.DESCRIBE_DELEGATION_TOKEN,
    name="token",
    any_of=(
        NeedAlternative(Operation.DESCRIBE, ResourceType.DELEGATION_TOKEN),
        NeedAlternative(
            Operation.DESCRIBE_TOKENS,
            ResourceType.USER,
            since="3.3",
            source_of_names=("response.tokens[].principal_type:response.tokens[].principal_name",),
        ),
    ),
    denied=terms.LEFT_OUT,
    names=("response.tokens[].token_id",),
    when="the requester neither owns nor may renew the token",
    kip=373,
)
