"""51 AlterUserScramCredentials, version 0. One result a user; users do not disturb each other.

Whoever is named twice is refused with 92, whatever the mechanisms (asked of 4.3.1); on ZooKeeper
only if a mechanism is named twice (asked of 2.8.2).
"""

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
    by_user: dict[str, list[Alteration]] = {}
    asked: list[Alteration] = [*request.deletions, *request.upsertions]
    for one in asked:
        by_user.setdefault(one.name, []).append(one)
    fault_of = _fault_of_one if context.behaviour.kraft else _fault_of_several
    outcomes: dict[str, Outcome] = {}
    for name, alterations in by_user.items():
        fault = fault_of(alterations, context.cluster.users)
        error, message = fault or _altered(alterations, context.cluster.users)
        if error is ErrorCode.NONE:
            message = context.behaviour.scram_success_message
        outcomes[name] = error, message
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


def _fault_of_one(alterations: list[Alteration], users: Users) -> Outcome | None:
    """A user can be altered once; a fault of the first alteration comes before that."""
    first = alterations[0]
    fault = _fault(first) or _missing(first, users)
    return fault or (_duplicate(first) if len(alterations) > 1 else None)


def _fault_of_several(alterations: list[Alteration], users: Users) -> Outcome | None:
    """On ZooKeeper each mechanism of a user can be altered once, and all of them come or none."""
    fault = next(filter(None, map(_fault, alterations)), None)
    if fault is not None:
        return fault
    if len({one.mechanism for one in alterations}) < len(alterations):
        return _duplicate(alterations[0])
    return next(filter(None, (_missing(one, users) for one in alterations)), None)


def _fault(one: Alteration) -> Outcome | None:
    if not one.name:
        return ErrorCode.UNACCEPTABLE_CREDENTIAL, "the user name is empty"
    if one.mechanism not in (ScramMechanism.SCRAM_SHA_256, ScramMechanism.SCRAM_SHA_512):
        return ErrorCode.UNSUPPORTED_SASL_MECHANISM, f"SCRAM mechanism {one.mechanism} is unknown"
    return _out_of_range(one.iterations) if isinstance(one, ScramCredentialUpsertion) else None


def _missing(one: Alteration, users: Users) -> Outcome | None:
    """A credential that is to be deleted has to be there."""
    mechanism = ScramMechanism(one.mechanism)
    has_it = any(kind is mechanism for kind, _ in users.stored(one.name))
    if has_it or isinstance(one, ScramCredentialUpsertion):
        return None
    text = f"user `{one.name}` has no {mechanism.wire_name} credential to delete"
    return ErrorCode.RESOURCE_NOT_FOUND, text


def _duplicate(one: Alteration) -> Outcome:
    text = f"user `{one.name}` is altered more than once in this request"
    return ErrorCode.DUPLICATE_RESOURCE, text


def _altered(alterations: list[Alteration], users: Users) -> Outcome:
    """What came of them; the first that fails is told."""
    outcomes = [_alter(one, ScramMechanism(one.mechanism), users) for one in alterations]
    return next((one for one in outcomes if one != DONE), DONE)


def _alter(one: Alteration, mechanism: ScramMechanism, users: Users) -> Outcome:
    if isinstance(one, ScramCredentialUpsertion):
        return _upsert(one, mechanism, users)
    users.discard(mechanism, one.name)
    return DONE


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
