"""The cost of a decision with ten ACLs and with a million, and the cost of the ACLs.

    python -m benchmarks.decide [--acls N] [--json] [--check]

For sets of literal, prefixed and mixed ACLs, and for sets with all ACLs on one topic or of one
principal: nanoseconds per decision with few and with many ACLs, and their ratio (goal: at most 2);
then the time to add, remove and filter ACLs, and the bytes per ACL. `--check` exits with 3 if a
ratio misses the goal.

The few ACLs are ten of the many, so that names are similar. Five hundred different accesses, spread
over all ACLs, are decided in turn: their data fits the processor's cache, so the ratio is that of
the search. `spread_ns` is for twenty thousand accesses, where waiting for memory is added, which
depends on the machine's other load. `again` is a second decision of the five hundred by the
authorizer.
"""

import gc
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from random import Random

from benchmarks.command import finish, parse_arguments
from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.authorizer.decide import PROBED_NAME, decide_access, decide_by_resource_type
from kafka_shim.authorizer.model import Acl, AclFilter, Action, Actor
from kafka_shim.authorizer.store import AclStore
from kafka_shim.protocol.enums import Operation, PatternType, Permission, ResourceType

TOPIC = ResourceType.TOPIC
READ, WRITE, ALL = Operation.READ, Operation.WRITE, Operation.ALL
ALLOW, DENY = Permission.ALLOW, Permission.DENY
LITERAL, PREFIXED = PatternType.LITERAL, PatternType.PREFIXED
DOMAINS = ("orders", "payments", "billing.invoices", "eu.web.clickstream", "iot", "x")

FEW = 10
QUESTIONS = 500
SPREAD_QUESTIONS = 20_000
ROUNDS = 60
RATIO_GOAL = 2.0

Question = tuple[Actor, Action]
Row = dict[str, str | int | float]


def literal_name(n: int) -> str:
    return f"team-{n % 1000}.{DOMAINS[n % len(DOMAINS)]}.{n}"


def prefix(n: int) -> str:
    """Return a prefix of 9 to 33 characters, as teams use them; every tenth has one below it."""
    if n % 10 == 9:
        return f"{prefix(n - 1)}sub."
    return f"team-{n}.{DOMAINS[n % len(DOMAINS)]}."


def user(n: int) -> str:
    return f"User:service-{n % 100_000}"


def literal_acl(n: int) -> Acl:
    return Acl(TOPIC, literal_name(n), LITERAL, user(n), "*", READ, DENY if n % 8 == 7 else ALLOW)


def prefixed_acl(n: int) -> Acl:
    return Acl(TOPIC, prefix(n), PREFIXED, user(n), "*", READ, DENY if n % 8 == 7 else ALLOW)


def mixed_acl(n: int) -> Acl:
    if n == 0:
        return Acl(TOPIC, "*", LITERAL, "User:auditor", "*", Operation.DESCRIBE, ALLOW)
    if n == 1:
        return Acl(TOPIC, "team-", PREFIXED, "User:*", "10.9.9.9", ALL, DENY)
    return prefixed_acl(n) if n % 2 else literal_acl(n)


def crowd_acl(n: int) -> Acl:
    """Return an ACL of another principal on one topic."""
    return Acl(TOPIC, "events", LITERAL, f"User:u{n}", "*", READ, DENY if n % 8 == 7 else ALLOW)


def owner_acl(n: int) -> Acl:
    """Return an ACL of one principal on another topic."""
    return Acl(
        TOPIC, literal_name(n), LITERAL, "User:etl", "*", READ, DENY if n % 8 == 7 else ALLOW
    )


SETS: dict[str, Callable[[int], Acl]] = {
    "literal": literal_acl,
    "prefixed": prefixed_acl,
    "mixed": mixed_acl,
    "one topic": crowd_acl,
    "one principal": owner_acl,
}


def few_of(count: int) -> list[int]:
    """Return ten numbers below `count`: 0 and 1, which are special in the mixed set, four that
    allow and four that deny.
    """
    rng = Random(count)
    numbers = [0, 1]
    for denies in (False, True) * 4:
        n = rng.randrange(2, count)
        while (n % 8 == 7) is not denies:
            n = rng.randrange(2, count)
        numbers.append(n)
    return numbers


def acls(make: Callable[[int], Acl], numbers: Sequence[int]) -> Iterator[Acl]:
    return (make(n) for n in numbers)


def question_of(acl: Acl, rng: Random) -> Question:
    """Return an access that the ACL decides."""
    tail = f"t{rng.randrange(1000)}" if acl.pattern_type is PREFIXED else ""
    host = f"10.0.{rng.randrange(256)}.{rng.randrange(256)}"
    return Actor(acl.principal, host), Action(acl.operation, TOPIC, acl.resource_name + tail)


def questions(
    kind: str, make: Callable[[int], Acl], numbers: Sequence[int], wanted: int = QUESTIONS
) -> list[Question]:
    rng = Random(len(numbers))
    permission = {"allowed": ALLOW, "denied": DENY}.get(kind)
    found: list[Question] = []
    while len(found) < wanted:
        n = numbers[rng.randrange(2, len(numbers))]  # 0 and 1 are special in the mixed set
        acl = make(n)
        if permission is None:
            stranger = Actor("User:stranger", "10.0.0.1")
            found.append((stranger, Action(WRITE, TOPIC, f"{literal_name(n)}-nowhere")))
        elif acl.permission is permission:
            found.append(question_of(acl, rng))
    return found


def ask(store: AclStore, asked: list[Question]) -> float:
    """Return nanoseconds per decision, over all accesses once."""
    begin = time.perf_counter_ns()
    for actor, action in asked:
        decide_access(store, actor, action)
    return (time.perf_counter_ns() - begin) / len(asked)


def ask_again(authorizer: StandardAuthorizer, asked: list[Question]) -> float:
    begin = time.perf_counter_ns()
    for actor, action in asked:
        authorizer.authorize(actor, action)
    return (time.perf_counter_ns() - begin) / len(asked)


def compare_decisions(name: str, few: AclStore, many: AclStore) -> list[Row]:
    rows: list[Row] = []
    authorizer = StandardAuthorizer(store=many)
    make, everyone, some = SETS[name], range(len(many)), few_of(len(many))
    for kind in ("allowed", "denied", "no match"):
        small, large = (questions(kind, make, numbers) for numbers in (some, everyone))
        spread = questions(kind, make, everyone, SPREAD_QUESTIONS)
        for store, asked in ((few, small), (many, large)):
            for actor, action in asked:
                assert decide_access(store, actor, action).allowed is (kind == "allowed"), (
                    name,
                    action,
                )
        # the best of many rounds, few and many in turn, which excludes other programs
        pairs = [(ask(few, small), ask(many, large)) for _ in range(ROUNDS)]
        few_ns, many_ns = min(p[0] for p in pairs), min(p[1] for p in pairs)
        again = min(ask_again(authorizer, large) for _ in range(ROUNDS))
        spread_ns = min(ask(many, spread) for _ in range(5))
        rows.append(
            {
                "set": name,
                "question": kind,
                "few_ns": round(few_ns),
                "many_ns": round(many_ns),
                "ratio": round(many_ns / few_ns, 2),
                "again_ns": round(again),
                "spread_ns": round(spread_ns),
            }
        )
    return rows


FILTERS = {
    "all": AclFilter(),
    "one name, literal": AclFilter(TOPIC, literal_name(5000), LITERAL),
    "one name, match": AclFilter(TOPIC, prefix(4999) + "t1", PatternType.MATCH),
    "one principal": AclFilter(principal=user(123)),
    "one principal and name": AclFilter(
        TOPIC, literal_name(5000), PatternType.ANY, principal=user(5000)
    ),
    "every prefixed": AclFilter(pattern_type=PREFIXED),
    "every deny": AclFilter(permission=DENY),
    "another type": AclFilter(ResourceType.GROUP),
}


def filter_times(store: AclStore) -> list[Row]:
    rows: list[Row] = []
    for label, acl_filter in FILTERS.items():
        found, best = 0, float("inf")
        for _ in range(3):
            begin = time.perf_counter()
            found = len(list(store.acls_matching(acl_filter)))
            best = min(best, time.perf_counter() - begin)
        rows.append({"filter": label, "found": found, "milliseconds": round(best * 1e3, 3)})
    return rows


def bytes_per_acl(name: str, count: int) -> int:
    gc.collect()
    tracemalloc.start()
    store = AclStore(acls(SETS[name], range(count)))
    gc.collect()
    used, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return round(used / len(store))


def change_times(name: str, store: AclStore, ready: list[Acl]) -> Row:
    begin = time.perf_counter()
    for acl in ready:
        store.add(acl)
    adding = time.perf_counter() - begin
    doomed = ready[:: max(1, len(ready) // 10_000)]
    begin = time.perf_counter()
    for acl in doomed:
        store.remove(acl)
    removing = time.perf_counter() - begin
    for acl in doomed:
        store.add(acl)
    return {
        "set": name,
        "add_us": round(adding / len(ready) * 1e6, 2),
        "remove_us": round(removing / len(doomed) * 1e6, 2),
        "bytes_per_acl": 0,
    }


def by_type_us(store: AclStore) -> float:
    """Return microseconds to decide `Write on any topic`
    (InitProducerId), the best of ten rounds.
    """
    actors = [Actor(user(n * 37), "10.0.0.1") for n in range(QUESTIONS)]
    best = float("inf")
    for _ in range(10):
        begin = time.perf_counter()
        for actor in actors:
            probe = decide_access(store, actor, Action(WRITE, TOPIC, PROBED_NAME))
            decide_by_resource_type(store, actor, WRITE, TOPIC, probe)
        best = min(best, time.perf_counter() - begin)
    return round(best / len(actors) * 1e6, 1)


def measure(count: int) -> dict[str, list[Row]]:
    figures: dict[str, list[Row]] = {
        key: [] for key in ("decisions", "by resource type", "changes", "filters")
    }
    for name, make in SETS.items():
        few, many = AclStore(acls(make, few_of(count))), AclStore()
        figures["changes"].append(change_times(name, many, list(acls(make, range(count)))))
        figures["decisions"] += compare_decisions(name, few, many)
        figures["by resource type"].append(
            {"set": name, "few_us": by_type_us(few), "many_us": by_type_us(many)}
        )
        if name == "mixed":
            figures["filters"] = filter_times(many)
        del few, many
        gc.collect()
    for row in figures["changes"]:
        row["bytes_per_acl"] = bytes_per_acl(str(row["set"]), count)
    return figures


def table(title: str, rows: list[Row]) -> Iterator[str]:
    """Yield the lines of an aligned table."""
    columns = list(rows[0])
    lines = [columns, *([str(row[column]) for column in columns] for row in rows)]
    widths = [max(len(line[n]) for line in lines) for n in range(len(columns))]
    yield f"\n{title}"
    for line in lines:
        cells = (f"{text:<{width}}" for text, width in zip(line, widths, strict=True))
        yield "  " + "  ".join(cells)


def main() -> int:
    options = parse_arguments(__doc__, acls=(1_000_000, "how many are many"))
    figures = measure(options.acls)
    worst = max(float(row["ratio"]) for row in figures["decisions"])
    lines = [f"few: {FEW} acls, many: {options.acls}, worst ratio {worst}, goal {RATIO_GOAL}"]
    lines += [line for title, rows in figures.items() for line in table(title, rows)]
    summary = {"few": FEW, "many": options.acls, "worst_ratio": worst, "goal": RATIO_GOAL}
    missed = [f"the worst ratio is {worst}, goal {RATIO_GOAL}"] if worst > RATIO_GOAL else []
    return finish(options, {**summary, **figures}, "\n".join(lines), missed)


if __name__ == "__main__":
    sys.exit(main())
