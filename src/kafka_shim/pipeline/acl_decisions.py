"""Decisions of an ACL set about accesses, by joins.

The joins find the ACLs of each accessed resource (the literal name, prefixes by their length, `*`),
of them those for the principal and the host, and of those the one that decides; see
`acls.acl_tables`. `authorizer` decides what joins cannot: accesses to any resource of a type, which
have the name `*`, and the release whose search for prefixes stops early.
"""

from collections import defaultdict
from collections.abc import Iterable

from kafka_shim.authorizer.acl_rules import acl_rules_of_release
from kafka_shim.authorizer.model import ANY_USER, Acl
from kafka_shim.pipeline.acls.acl_set import AclSet
from kafka_shim.pipeline.acls.acl_tables import (
    ACLS,
    DEFAULT_ALLOW,
    DEFAULT_DENY,
    LITERAL_NAME,
    NETWORK_HOSTS,
    OPERATIONS,
    PATTERNS,
    PRINCIPALS,
    SUPER_USER,
    WILDCARD_NAME,
    acl_tables,
    network_host_table,
    network_hosts,
    operation_table,
    principal_table,
)
from kafka_shim.pipeline.acls.authorizer_decisions import DECIDED, decision_mapper
from kafka_shim.pipeline.engines.checked_sql import checked_sql
from kafka_shim.pipeline.engines.duckdb_engine import DuckDbEngine
from kafka_shim.pipeline.rows.access_roles import accesses_to_any_resource
from kafka_shim.pipeline.rows.access_row import DECISION_COLUMNS
from kafka_shim.protocol.enums import Operation, ResourceType

QUESTION = ("principal", "host", "operation", "resource_type", "resource_name")
"""The columns on which a decision about an access without alternatives depends."""

_PATTERN_COLUMNS = ("resource_type", "resource_name", "pattern", "is_of_everyone")
_WILDCARD_MATCHES = {
    True: "true",
    False: "(r.resource_name = '*' or substr(r.resource_name, 1, 1) <> '*')",
}
"""The resources to which the pattern `*` applies, by whether it covers starred names."""
_RESOURCE_PATTERNS = {
    covers: checked_sql(
        f"""
select k.resource_type, k.resource_name, p.pattern, p.is_of_everyone
from (
    select r.resource_type, r.resource_name, l.prefix_length,
        case l.prefix_length when {LITERAL_NAME} then r.resource_name
            when {WILDCARD_NAME} then '*'
            else substr(r.resource_name, 1, l.prefix_length) end as pattern_name
    from (select distinct resource_type, resource_name from {{accesses}}) r
    join (select distinct resource_type, prefix_length from {{patterns}}) l
        on l.resource_type = r.resource_type and l.prefix_length <= length(r.resource_name)
    where l.prefix_length <> {WILDCARD_NAME} or {matches}
) k
join {{patterns}} p on p.resource_type = k.resource_type and p.prefix_length = k.prefix_length
    and p.pattern_name = k.pattern_name
""",
        accesses=QUESTION,
        patterns=PATTERNS.names,
    )
    for covers, matches in _WILDCARD_MATCHES.items()
}


def _applying_acls_query(join: str = "", condition: str = "", **networks: Iterable[str]) -> str:
    return checked_sql(
        f"""
select q.principal, q.host, q.operation, q.resource_type, q.resource_name, a.rank, a.is_deny
from {{questions}} q
join {{resource_patterns}} r
    on r.resource_type = q.resource_type and r.resource_name = q.resource_name
join {{acls}} a on a.pattern = r.pattern
    and a.principal = case when r.is_of_everyone then '{ANY_USER}' else q.principal end
join {{operations}} o on o.operation = q.operation
{join}
where (a.covered_operations & o.operation_bit) <> 0
    and (a.host = '*' or a.host = q.host {condition})
""",
        questions=QUESTION,
        resource_patterns=_PATTERN_COLUMNS,
        acls=ACLS.names,
        operations=OPERATIONS.names,
        **networks,
    )


_APPLYING_ACLS = _applying_acls_query()
_APPLYING_ACLS_OF_NETWORKS = _applying_acls_query(
    "left join {networks} n on n.acl_host = a.host and n.host = q.host",
    "or n.host is not null",
    networks=NETWORK_HOSTS.names,
)


def _any_resource_condition(alias: str = "") -> str:
    """Return the condition that an access is to any resource of its type (KIP-679)."""
    kinds = " or ".join(
        f"({alias}api_key = {int(key)} and {alias}operation = '{Operation(operation).name}'"
        f" and {alias}resource_type = '{ResourceType(kind).name}')"
        for key, operation, kind in sorted(accesses_to_any_resource())
    )
    return f"({alias}resource_name = '*' and ({kinds}))"


def _decisions_query(default: str, join: str = "", **patterns: Iterable[str]) -> str:
    return checked_sql(
        f"""
select a.*,
    case when s.principal is not null then true
        when d.rule_number is not null then d.is_allowed
        else {default} end as decided_allowed,
    case when s.principal is not null then {SUPER_USER}
        when d.rule_number is not null then d.rule_number
        when {default} then {DEFAULT_ALLOW}
        else {DEFAULT_DENY} end as decided_rule
from {{accesses}} a
left join {{super_users}} s on s.principal = a.principal
left join {{decisions}} d on d.principal = a.principal and d.host = a.host
    and d.operation = a.operation and d.resource_type = a.resource_type
    and d.resource_name = a.resource_name and d.is_any_resource = {_any_resource_condition("a.")}
{join}
""",
        accesses=DECISION_COLUMNS,
        super_users=PRINCIPALS.names,
        decisions=DECIDED.names,
        **patterns,
    )


_DECIDED = {default: _decisions_query(str(default).lower()) for default in (False, True)}
"""By what is allowed without an ACL."""
_DECIDED_BY_PATTERNS = _decisions_query(
    "(c.resource_name is null)",
    """
left join (select distinct resource_type, resource_name from {resource_patterns}) c
    on c.resource_type = a.resource_type and c.resource_name = a.resource_name
""",
    resource_patterns=_PATTERN_COLUMNS,
)
"""What is allowed without an ACL for the resource."""
IS_ANY_RESOURCE = _any_resource_condition()
IS_NAMED_STAR = f"(resource_name = '*' and not {IS_ANY_RESOURCE})"
"""The condition that an access is to a resource with this name, to which no ACL alone applies."""
_NAME_IS_STAR = "resource_name = '*'"
"""The condition of accesses to any resource, and of those to a resource that has this name: of its
ACLs, the order is another.
"""


class AclRelations:
    """ACLs as relations, which live as long as the engine; many ACLs take a second."""

    def __init__(self, engine: DuckDbEngine, distinct_acls: tuple[Acl, ...]) -> None:
        self.listed_acls = distinct_acls
        self.tables = acl_tables(distinct_acls)
        self.acls = engine.relation_from_arrow(self.tables.acls)
        self.patterns = engine.relation_from_arrow(self.tables.patterns)
        self.rule_texts = engine.relation_from_arrow(self.tables.rules)

    def positions_by_rank(self) -> list[int]:
        """Return the place of each ACL in those that were given, by rank."""
        positions = {acl: position for position, acl in enumerate(self.listed_acls)}
        return [positions[acl] for acl in self.tables.ranked_acls]

    def ranks_by_pattern(self) -> dict[int, list[int]]:
        """Return the ranks of the ACLs of each pattern."""
        found: dict[int, list[int]] = defaultdict(list)
        for rank, pattern in enumerate(self.tables.acls["pattern"].to_pylist()):
            found[pattern].append(rank)
        return found


class AclDecider:
    """Decides accesses with an ACL set; its relations live as long as the engine."""

    def __init__(self, engine: DuckDbEngine, acl_set: AclSet) -> None:
        self._engine = engine
        self._acl_set = acl_set
        self._rules = acl_rules_of_release(acl_set.release)
        self.relations = AclRelations(engine, acl_set.acls)
        self.super_users = engine.relation_from_arrow(principal_table(acl_set.super_users))
        self._operations = engine.relation_from_arrow(operation_table())

    def with_decisions(self, accesses: str, name_prefix: str) -> str:
        """Add the columns `allowed` and `rule_number` with a prefix: whether each requirement is
        met, by the access or else by all of its alternatives, and the number of the rule.
        """
        columns = ", ".join(f"a.{name}" for name in self._engine.columns(accesses))
        keys = " and ".join(f"i.{name} = a.{name}" for name in DECISION_COLUMNS)
        return self._engine.sql(
            f"""
            select {columns},
                a.decided_allowed or coalesce(i.all_allowed, false) as {name_prefix}allowed,
                case when not a.decided_allowed and i.all_allowed then i.first_rule
                    else a.decided_rule end as {name_prefix}rule_number
            from {{own}} a left join {{alternatives}} i on {keys}
            """,
            own=self._with_direct_decisions(accesses),
            alternatives=self._decide_alternatives(accesses),
        )

    def replace_rule_numbers(self, decided: str, name_prefix: str) -> str:
        """Replace the column `rule_number` with a prefix by `rule`, the text."""
        number = f"{name_prefix}rule_number"
        columns = ", ".join(f"d.{name}" for name in self._engine.columns(decided) if name != number)
        return self._engine.sql(
            f"select {columns}, r.rule as {name_prefix}rule from {{decided}} d"
            f" join {{rules}} r on r.rule_number = d.{number}",
            decided=decided,
            rules=self.relations.rule_texts,
        )

    def applying_acls(self, questions: str, resource_patterns: str) -> str:
        """Return a row with the rank for each question and each ACL that allows or denies it."""
        query, networks = _APPLYING_ACLS, {}
        if network_hosts(self._acl_set):
            hosts = self._engine.rows(
                self._engine.sql("select distinct host from {questions}", questions=questions)
            )
            table = network_host_table(self._acl_set, (row["host"] for row in hosts))
            networks = {"networks": self._engine.relation_from_arrow(table)}
            query = _APPLYING_ACLS_OF_NETWORKS
        return self._engine.sql(
            query,
            questions=questions,
            operations=self._operations,
            resource_patterns=resource_patterns,
            acls=self.relations.acls,
            **networks,
        )

    def resource_patterns(self, accesses: str) -> str:
        """Return the patterns of ACLs that match each accessed resource."""
        return self._engine.sql(
            _RESOURCE_PATTERNS[self._rules.wildcard_covers_starred_names],
            accesses=accesses,
            patterns=self.relations.patterns,
        )

    def _with_direct_decisions(self, accesses: str) -> str:
        """Add `decided_allowed` and `decided_rule`: the decisions without alternatives."""
        patterns = self._engine.materialize(self.resource_patterns(accesses))
        decisions = self._engine.materialize(self._decisions(accesses, patterns))
        everyone = self._acl_set.allow_everyone_if_no_acl
        query, closed = _DECIDED[everyone], {}
        if everyone and not self._rules.prefix_search_stops_early:
            query, closed = _DECIDED_BY_PATTERNS, {"resource_patterns": patterns}
        return self._engine.sql(
            query, accesses=accesses, super_users=self.super_users, decisions=decisions, **closed
        )

    def _decisions(self, accesses: str, patterns: str) -> str:
        """Return the decisions that depend on an ACL, and all that the authorizer made."""
        if self._rules.prefix_search_stops_early:
            return self._decide_by_authorizer(self._questions(accesses, "true"))
        columns = ", ".join(QUESTION)
        return self._engine.sql(
            f"""
            select {columns}, false as is_any_resource, bool_and(not is_deny) as is_allowed,
                coalesce(min(rank) filter (where is_deny), max(rank)) as rule_number
            from {{applying}} where not ({_NAME_IS_STAR}) group by {columns}
            union all
            select * from {{by_authorizer}}
            """,
            applying=self.applying_acls(accesses, patterns),
            by_authorizer=self._decide_by_authorizer(self._questions(accesses, _NAME_IS_STAR)),
        )

    def _questions(self, accesses: str, condition: str) -> str:
        columns = ", ".join(QUESTION)
        return self._engine.sql(
            f"""
            select distinct {columns}, is_any_resource
            from (select *, {IS_ANY_RESOURCE} as is_any_resource from {{accesses}}) marked
            where {condition}
            """,
            accesses=accesses,
        )

    def _decide_by_authorizer(self, questions: str) -> str:
        return self._engine.map_batches(
            questions, decision_mapper(self._acl_set, self.relations.tables.ranked_acls), DECIDED
        )

    def _decide_alternatives(self, accesses: str) -> str:
        """Return whether all alternatives of an access are allowed, and the rule of the first."""
        # an element is OPERATION|TYPE|name
        rest = "substr(element, length(split_part(element, '|', 1)) + 2)"
        names = ", ".join(f"{name} as own_{name}" for name in DECISION_COLUMNS)
        elements = self._engine.sql(
            f"""
            select {names}, position, principal, host, api_key,
                split_part(element, '|', 1) as operation,
                split_part({rest}, '|', 1) as resource_type,
                substr({rest}, length(split_part({rest}, '|', 1)) + 2) as resource_name
            from (
                select *, generate_subscripts(instead, 1) - 1 as position,
                    unnest(instead) as element
                from (
                    select distinct {", ".join(DECISION_COLUMNS)} from {{accesses}}
                    where size(instead) > 0
                ) with_alternatives
            ) elements
            """,
            accesses=accesses,
        )
        grouped = ", ".join(f"own_{name} as {name}" for name in DECISION_COLUMNS)
        return self._engine.sql(
            f"""
            select {grouped}, bool_and(decided_allowed) as all_allowed,
                max(decided_rule) filter (where position = 0) as first_rule
            from {{decided}} group by {", ".join(f"own_{name}" for name in DECISION_COLUMNS)}
            """,
            decided=self._with_direct_decisions(self._engine.materialize(elements)),
        )
