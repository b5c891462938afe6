"""51 AlterUserScramCredentials, version 0. One result per user; each succeeds or fails on its own.

A user that is listed twice gets DUPLICATE_RESOURCE (92), whatever the mechanisms (observed on
4.3.1); on ZooKeeper only if a mechanism is listed twice (observed on 2.8.2).
"""

from itertools import chain

from kafka_shim.authorizer.acl_requests import ZOOKEEPER_DOTS
from kafka_shim.authorizer.requirements import ALTER_USER_SCRAM_CREDENTIALS
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
    AlterUserScramCredentialsResult,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from kafka_shim.shim.errors import RequestRejected
from kafka_shim.shim.request.context import RequestContext
from kafka_shim.shim.sasl.scram_credential import ScramMechanism, credential_of_salted_password
from kafka_shim.shim.state.users import Users

ITERATIONS_MIN = 4096
ITERATIONS_MAX = 16_384

Alteration = ScramCredentialDeletion | ScramCredentialUpsertion
Outcome = tuple[ErrorCode, str | None]
DONE: Outcome = (ErrorCode.NONE, None)


def handle(
    request: AlterUserScramCredentialsRequest, context: RequestContext
) -> AlterUserScramCredentialsResponse:
    context.access.require(
        ALTER_USER_SCRAM_CREDENTIALS, message=context.facts.users.alter_scram_denial_message
    )
    by_user = _alterations_by_user(request)
    users = list(by_user.values())
    failure_of = (
        _repeated_user_error
        if context.facts.users.alter_scram_rejects_repeated_users
        else _request_error_as_zookeeper
    )
    limit = context.facts.users.changed_scram_credentials_per_request_max
    if (
        limit is not None
        and len(users) > limit
        and sum(failure_of(alterations, context) is None for alterations in users) > limit
    ):
        raise RequestRejected(ErrorCode.UNKNOWN_SERVER_ERROR)
    results = []
    for alterations in users:
        failure = failure_of(alterations, context)
        error, message = failure or _alter_user(alterations, context.cluster.users)
        if error is ErrorCode.NONE:
            message = context.facts.users.alter_scram_ok_message
        results.append(_result(alterations[0].name, error, message))
    return AlterUserScramCredentialsResponse(results=results)


def error_response(
    request: AlterUserScramCredentialsRequest, error: ErrorCode, message: str | None
) -> AlterUserScramCredentialsResponse:
    alterations: list[Alteration] = [*request.deletions, *request.upsertions]
    names = {alteration.name for alteration in alterations}
    return AlterUserScramCredentialsResponse(
        results=[_result(name, error, message) for name in sorted(names)]
    )


def _alterations_by_user(request: AlterUserScramCredentialsRequest) -> dict[str, list[Alteration]]:
    by_user: dict[str, list[Alteration]] = {}
    for alteration in chain[Alteration](request.deletions, request.upsertions):
        by_user.setdefault(alteration.name, []).append(alteration)
    return by_user


def _result(name: str, error: ErrorCode, message: str | None) -> AlterUserScramCredentialsResult:
    return AlterUserScramCredentialsResult(user=name, error_code=error, error_message=message)


def _repeated_user_error(alterations: list[Alteration], context: RequestContext) -> Outcome | None:
    """Return the error for a user that is altered twice; a failure of the first comes before it."""
    first = alterations[0]
    failure = _invalid_alteration_error(first) or _missing_credential_error(
        first, context.cluster.users
    )
    return failure or (_duplicate_user_error(first) if len(alterations) > 1 else None)


def _request_error_as_zookeeper(
    alterations: list[Alteration], context: RequestContext
) -> Outcome | None:
    """Return the error on ZooKeeper: each mechanism of a user once, and all alterations or none."""
    failure = next(filter(None, map(_invalid_alteration_error, alterations)), None)
    if failure is not None:
        return failure
    if alterations[0].name in ZOOKEEPER_DOTS:
        return ErrorCode.UNKNOWN_SERVER_ERROR, None
    mechanisms = {alteration.mechanism for alteration in alterations}
    if len(mechanisms) < len(alterations):
        return _duplicate_user_error(alterations[0])
    users = context.cluster.users
    return next(
        filter(None, (_missing_credential_error(alteration, users) for alteration in alterations)),
        None,
    )


def _invalid_alteration_error(alteration: Alteration) -> Outcome | None:
    if not alteration.name:
        return ErrorCode.UNACCEPTABLE_CREDENTIAL, "the user name is empty"
    if alteration.mechanism not in (ScramMechanism.SCRAM_SHA_256, ScramMechanism.SCRAM_SHA_512):
        return (
            ErrorCode.UNSUPPORTED_SASL_MECHANISM,
            f"SCRAM mechanism {alteration.mechanism} is unknown",
        )
    return (
        _invalid_iterations_error(alteration.iterations)
        if isinstance(alteration, ScramCredentialUpsertion)
        else None
    )


def _missing_credential_error(alteration: Alteration, users: Users) -> Outcome | None:
    """Return the error if a credential to delete does not exist."""
    mechanism = ScramMechanism(alteration.mechanism)
    has_credential = any(kind is mechanism for kind, _ in users.stored_credentials(alteration.name))
    if has_credential or isinstance(alteration, ScramCredentialUpsertion):
        return None
    text = f"user `{alteration.name}` has no {mechanism.wire_name} credential to delete"
    return ErrorCode.RESOURCE_NOT_FOUND, text


def _duplicate_user_error(alteration: Alteration) -> Outcome:
    text = f"user `{alteration.name}` is altered more than once in this request"
    return ErrorCode.DUPLICATE_RESOURCE, text


def _alter_user(alterations: list[Alteration], users: Users) -> Outcome:
    """Apply all alterations, and return the first error."""
    outcomes = [
        _alter_credential(alteration, ScramMechanism(alteration.mechanism), users)
        for alteration in alterations
    ]
    return next((outcome for outcome in outcomes if outcome != DONE), DONE)


def _alter_credential(alteration: Alteration, mechanism: ScramMechanism, users: Users) -> Outcome:
    if isinstance(alteration, ScramCredentialUpsertion):
        return _upsert_credential(alteration, mechanism, users)
    users.remove_stored_credential(mechanism, alteration.name)
    return DONE


def _invalid_iterations_error(iterations: int) -> Outcome | None:
    if iterations < ITERATIONS_MIN:
        return ErrorCode.UNACCEPTABLE_CREDENTIAL, f"iterations must be at least {ITERATIONS_MIN}"
    if iterations > ITERATIONS_MAX:
        return ErrorCode.UNACCEPTABLE_CREDENTIAL, f"iterations must be at most {ITERATIONS_MAX}"
    return None


def _upsert_credential(
    upsertion: ScramCredentialUpsertion, mechanism: ScramMechanism, users: Users
) -> Outcome:
    if not upsertion.salted_password:  # the real controller fails inside its key function
        return ErrorCode.UNKNOWN_SERVER_ERROR, None
    credential = credential_of_salted_password(
        mechanism, upsertion.salted_password, upsertion.salt, upsertion.iterations
    )
    users.store_credential(mechanism, upsertion.name, credential)
    return DONE
