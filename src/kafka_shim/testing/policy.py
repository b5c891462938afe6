"""`kafka_policy`: decisions about the ACLs of files, without a broker."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from kafka_shim.authorizer.acl_names import parse_operation, parse_resource
from kafka_shim.authorizer.model import Action, Actor, is_principal
from kafka_shim.authorizer.networks import parse_client_address
from kafka_shim.policy.acl_files import read_accepted_acls
from kafka_shim.policy.descriptions import decision_rule_text
from kafka_shim.policy.expectation import parse_expectation
from kafka_shim.policy.expectation_check import ExpectationChecker
from kafka_shim.policy.policy import Policy
from kafka_shim.policy.verdicts import explanation_lines
from kafka_shim.protocol.api_versions import RELEASES
from kafka_shim.testing.names import OperationName
from kafka_shim.testing.setup_warnings import warn_at_caller
from kafka_shim.text.input_files import InputError


class PolicyDecision:
    """An answer, which is true or false in a condition; a failed `assert` shows its reason.

    An answer that nobody has read is a warning: an `assert` is missing.
    """

    def __init__(self, question: str, reason: str, *, is_true: bool) -> None:
        self.question = question
        self.reason = reason
        self._is_true = is_true
        self._is_read = False

    @property
    def is_true(self) -> bool:
        """Return whether the answer is yes."""
        self._is_read = True
        return self._is_true

    def __bool__(self) -> bool:
        return self.is_true

    def __repr__(self) -> str:
        return f"<{self.is_true}: {self.question}: {self.reason}>"

    def __del__(self) -> None:
        if not self._is_read:
            warn_at_caller([f"nobody has read this answer, write assert: {self!r}"])


class KafkaPolicy:
    """What a Kafka release decides with the ACLs of files and folders, in any format."""

    def __init__(self, paths: Iterable[str | Path], release: str | None = None) -> None:
        self.release = release or RELEASES[-1]
        try:
            acls = read_accepted_acls([str(path) for path in paths], self.release)
        except InputError as error:
            raise ValueError(str(error)) from error
        self._authorizer = Policy(acls, self.release).authorizer()

    def allows(
        self, principal: str, operation: OperationName, resource: str, host: str = "127.0.0.1"
    ) -> "PolicyDecision":
        """Return whether `User:alice` may `Write` on `topic:orders`, true or false, with the
        reason. The resource `cluster` has no name. Raise ValueError for an invalid principal,
        operation, resource or host.
        """
        if not is_principal(principal):
            raise ValueError(f"`{principal}`: expected Type:name, as in User:alice")
        address = parse_client_address(host)
        action = Action(parse_operation(operation), *parse_resource(resource))
        decision = self._authorizer.authorize(Actor(principal, address), action)
        question = f"{principal} {operation} {resource} from {address}"
        return PolicyDecision(question, decision_rule_text(decision), is_true=decision.allowed)

    def holds(self, **expectation: Any) -> PolicyDecision:
        """Assert an expectation of `kafka-shim policy test`; return the decision, which is true.

        The keywords are the keys of a file, with `_` for `-`. Raise AssertionError, with the
        reason, if the expectation does not hold, and ValueError if it is invalid.
        """
        entry: Mapping[str, Any] = {key.replace("_", "-"): v for key, v in expectation.items()}
        parsed_expectation = parse_expectation(entry, "expectation", self.release)
        verdict = ExpectationChecker(self._authorizer).check_expectation(parsed_expectation)
        reason = "; ".join(line.strip() for line in explanation_lines(verdict))
        question = ", ".join(f"{key}={value!r}" for key, value in expectation.items())
        decision = PolicyDecision(question, reason, is_true=verdict.holds)
        if not decision:
            raise AssertionError(repr(decision))
        return decision
