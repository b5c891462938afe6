"""51 AlterUserScramCredentials, version 0. One result a user; users do not disturb each other.

Whoever is named twice is refused with 92, whatever the mechanisms (asked of 4.3.1).
"""

from collections import Counter
from collections.abc import Iterable

from authorizer.requirements import ALTER_USER_SCRAM_CREDENTIALS
from protocol.error_codes import ErrorCode
from protocol.messages.alter_user_scram_credentials_request import (
    AlterUserScramCredentialsRequest,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from protocol.messages.alter_user_scram_credentials_response import (
    AlterUserScramCredentialsResponse,
    AlterUserScramCredentialsResult,
)
from shim.context import RequestContext
from shim.state.users import ScramMechanism, Users, credential_of

ITERATIONS_MIN = 4096
ITERATIONS_MAX = 16_384

Alteration = ScramCredentialDeletion | ScramCredentialUpsertion
Outcome = tuple[ErrorCode, str | None]
DONE: Outcome = (ErrorCode.NONE, None)


def handle(
    request: AlterUserScramCredentialsRequest, context: RequestContext
) -> AlterUserScramCredentialsResponse:
    context.access.require(ALTER_USER_SCRAM_CREDENTIALS, message=context.behaviour.scram_denial)
    alterations: list[Alteration] = [*request.deletions, *request.upsertions]
    counts = Counter(one.name for one in alterations)
    outcomes: dict[str, Outcome] = {}
    for one in alterations:
        if one.name in outcomes:
            continue
        error, message = _alter(one, counts[one.name], context.cluster.users)
        if error is ErrorCode.NONE:
            message = context.behaviour.scram_success_message
        outcomes[one.name] = error, message
    return _response(outcomes.items())


def refuse(
    request: AlterUserScramCredentialsRequest, error: ErrorCode, message: str | None
) -> AlterUserScramCredentialsResponse:
    alterations: list[Alteration] = [*request.deletions, *request.upsertions]
    names = {one.name for one in alterations}
    return _response((name, (error, message)) for name in sorted(names))


def _response(outcomes: Iterable[tuple[str, Outcome]]) -> AlterUserScramCredentialsResponse:
    return AlterUserScramCredentialsResponse(
        results=[
            AlterUserScramCredentialsResult(user=name, error_code=error, error_message=message)
            for name, (error, message) in outcomes
        ]
    )


def _alter(one: Alteration, count: int, users: Users) -> Outcome:
    """A fault of the user's first alteration comes before that there are two."""
    fault = _fault(one, users)
    if fault is not None:
        return fault
    if count > 1:
        text = f"user `{one.name}` is altered more than once in this request"
        return ErrorCode.DUPLICATE_RESOURCE, text
    mechanism = ScramMechanism(one.mechanism)
    if isinstance(one, ScramCredentialUpsertion):
        return _upsert(one, mechanism, users)
    users.discard(mechanism, one.name)
    return DONE


def _fault(one: Alteration, users: Users) -> Outcome | None:
    if not one.name:
        return ErrorCode.UNACCEPTABLE_CREDENTIAL, "the user name is empty"
    if one.mechanism not in (ScramMechanism.SCRAM_SHA_256, ScramMechanism.SCRAM_SHA_512):
        return ErrorCode.UNSUPPORTED_SASL_MECHANISM, f"SCRAM mechanism {one.mechanism} is unknown"
    mechanism = ScramMechanism(one.mechanism)
    if isinstance(one, ScramCredentialUpsertion):
        return _out_of_range(one.iterations)
    if all(kind is not mechanism for kind, _ in users.stored(one.name)):
        text = f"user `{one.name}` has no {mechanism.wire_name} credential to delete"
        return ErrorCode.RESOURCE_NOT_FOUND, text
    return None


def _out_of_range(iterations: int) -> Outcome | None:
    if iterations < ITERATIONS_MIN:
        return ErrorCode.UNACCEPTABLE_CREDENTIAL, f"iterations must be at least {ITERATIONS_MIN}"
    if iterations > ITERATIONS_MAX:
        return ErrorCode.UNACCEPTABLE_CREDENTIAL, f"iterations must be at most {ITERATIONS_MAX}"
    return None


def _upsert(one: ScramCredentialUpsertion, mechanism: ScramMechanism, users: Users) -> Outcome:
    if not one.salted_password:  # the real controller fails inside its key function
        return ErrorCode.UNKNOWN_SERVER_ERROR, None
    credential = credential_of(mechanism, one.salted_password, one.salt, one.iterations)
    users.store(mechanism, one.name, credential)
    return DONE
