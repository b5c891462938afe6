"""The part of a broker in a run of tests with mutated ACLs: decide by mutants, and note accesses.

`kafka-shim run --mutate-acls` names a folder in the variable SHIM_MUTATION_RUN. All brokers of the
run read their mutants from there, also those that tests start by themselves. Clients see their own
ACLs (DescribeAcls), and decisions are made with the mutants.
"""

import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

from kafka_shim.authorizer.acl_mutants import AclMutant, apply_mutants
from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.authorizer.model import Acl, Action, Actor, Decision
from kafka_shim.protocol.enums import Operation, ResourceType
from kafka_shim.shim.errors import ConfigError
from kafka_shim.shim.state.cluster import Cluster

_MUTANTS: Final = "mutants.json"
_RUNNING_TESTS: Final = "running"


class BrokerNote(msgspec.Struct, frozen=True, tag=True):
    """What decides besides the ACLs: the first note of a broker."""

    release: str
    super_users: tuple[str, ...]
    allow_everyone: bool


class AclsNote(msgspec.Struct, frozen=True, tag=True):
    """The ACLs from now on, without mutants."""

    acls: tuple[Acl, ...]


class AclNote(msgspec.Struct, frozen=True, tag=True):
    """An ACL that was created; if no access follows, no other note has it."""

    acl: Acl


class AccessNote(msgspec.Struct, frozen=True, tag=True):
    """An access with these ACLs while these tests were running; no name means any resource."""

    actor: Actor
    operation: Operation
    resource_type: ResourceType
    resource_name: str | None
    tests: tuple[str, ...]


class MutantNote(msgspec.Struct, frozen=True, tag=True):
    """The mutants had an effect: an ACL was there to be replaced, or a decision differed."""

    has_changed_decision: bool


Note = BrokerNote | AclsNote | AclNote | AccessNote | MutantNote


class RunFolder:
    """The folder that a run of tests shares with its brokers."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.running_tests = path / _RUNNING_TESTS

    def write_mutants(self, mutants: Iterable[AclMutant]) -> None:
        """Write the mutants that all brokers of the run have."""
        self.running_tests.mkdir()
        (self.path / _MUTANTS).write_bytes(msgspec.json.encode(list(mutants)))

    def read_mutants(self) -> list[AclMutant]:
        """Return the mutants. Raise OSError or msgspec.MsgspecError if it is not such a folder."""
        return msgspec.json.decode((self.path / _MUTANTS).read_bytes(), type=list[AclMutant])

    def read_running_tests(self) -> tuple[str, ...]:
        """Return the tests that run now; empty outside of tests, or if nobody writes them."""
        texts = []
        for path in self.running_tests.iterdir():
            with suppress(OSError):  # it is being replaced
                texts.append(path.read_text(encoding="utf-8"))
        return tuple(sorted(filter(None, texts)))

    def notes_by_broker(self) -> Iterator[list[Note]]:
        """Yield the notes of each broker of the run; a broker that was killed may lack the last."""
        decoder = msgspec.json.Decoder(Note)
        for path in sorted(self.path.glob("broker-*.jsonl")):
            lines = path.read_bytes().split(b"\n")[:-1]
            yield [decoder.decode(line) for line in lines]


class BrokerMutationRun:
    """Lets mutants decide in the clusters of one broker, and writes its notes.

    Each note is written at once, since tests may kill their brokers.
    """

    def __init__(self, folder: str) -> None:
        """Read the mutants. Raise ConfigError if the folder is not that of a run."""
        self.run = RunFolder(Path(folder))
        try:
            self.mutants = self.run.read_mutants()
        except (OSError, msgspec.MsgspecError) as error:
            raise ConfigError(
                f"SHIM_MUTATION_RUN `{folder}`: not the folder of a run of `kafka-shim run"
                f" --mutate-acls` ({error}); unset the variable"
            ) from error
        self._descriptor: int | None = None

    def attach(self, cluster: Cluster) -> None:
        """Let the mutants decide until the next reset, if ACLs decide at all. Raise ConfigError if
        that is not possible.
        """
        authorizer = cluster.policy.authorizer
        if isinstance(authorizer, StandardAuthorizer):
            if type(authorizer) is not StandardAuthorizer:
                raise ConfigError("--mutate-acls cannot be combined with --acl-propagation-delay")
            mutants = MutantAuthorizer(authorizer, cluster.release, self)
            cluster.policy.delegate_to(mutants)
            if not self.mutants:
                authorizer.store.add_observer(mutants)
                for acl in authorizer.store:
                    mutants.on_acl_added(acl)

    def write(self, note: Note) -> None:
        """Append a note to the file of the broker, which the first note creates."""
        if self._descriptor is None:
            self._descriptor, _ = tempfile.mkstemp(".jsonl", "broker-", self.run.path)
        os.write(self._descriptor, msgspec.json.encode(note) + b"\n")


class MutantAuthorizer(StandardAuthorizer):
    """Decides with the ACLs of another authorizer, of which some are replaced by mutants.

    It notes all accesses in a run without mutants, and otherwise whether the mutants have changed
    anything.
    """

    def __init__(
        self, original: StandardAuthorizer, release: str, watch: BrokerMutationRun
    ) -> None:
        users, everyone = original.super_users, original.allow_everyone
        super().__init__(super_users=users, allow_everyone=everyone, rules=original.rules)
        self._original, self._watch, self._mutants = original, watch, watch.mutants
        self._broker_note: Note | None = BrokerNote(release, tuple(sorted(users)), everyone)
        self._epoch = -1
        self._written: set[Note] = set()

    def authorize(self, actor: Actor, action: Action) -> Decision:
        self._sync_with_original()
        decision = super().authorize(actor, action)
        if self._mutants:
            self._note_change(decision, self._original.authorize(actor, action))
        else:
            name = action.resource_name
            self._note_access(actor, action.operation, action.resource_type, name)
        return decision

    def authorize_by_resource_type(
        self, actor: Actor, operation: Operation, resource_type: ResourceType
    ) -> Decision:
        self._sync_with_original()
        decision = super().authorize_by_resource_type(actor, operation, resource_type)
        if self._mutants:
            access = actor, operation, resource_type
            self._note_change(decision, self._original.authorize_by_resource_type(*access))
        else:
            self._note_access(actor, operation, resource_type, None)
        return decision

    def on_acl_added(self, acl: Acl) -> None:
        self._write(AclNote(acl))

    def on_acl_removed(self, acl: Acl) -> None:
        """Note nothing: accesses are noted with the ACLs that are left."""

    def _sync_with_original(self) -> None:
        """Take over the ACLs, if they have changed, and replace some by mutants."""
        store = self._original.store
        if store.epoch == self._epoch:
            return
        self._epoch = store.epoch
        acls = store.snapshot()
        self.store.replace_all(acls)
        if self._mutants:
            if apply_mutants(self._mutants, self.store):
                self._write(MutantNote(has_changed_decision=False))
        else:
            self._written.clear()
            self._write(AclsNote(acls))

    def _note_change(self, decision: Decision, original: Decision) -> None:
        if decision.allowed is not original.allowed:
            self._write(MutantNote(has_changed_decision=True))

    def _note_access(
        self,
        actor: Actor,
        operation: Operation,
        resource_type: ResourceType,
        resource_name: str | None,
    ) -> None:
        tests = self._watch.run.read_running_tests()
        self._write(AccessNote(actor, operation, resource_type, resource_name, tests))

    def _write(self, note: Note) -> None:
        """Write a note, unless it was written for the same ACLs."""
        if note in self._written:
            return
        self._written.add(note)
        if self._broker_note is not None:
            self._watch.write(self._broker_note)
            self._broker_note = None
        self._watch.write(note)
