"""ACLs that no request needs (unused, shadowed, redundant), and the lines to remove them."""

from typing import TYPE_CHECKING

from pyspark.sql import functions as f

from kafka_shim.authorizer.acl_formats.kafka_commands import command
from kafka_shim.authorizer.acl_formats.trace_rule import acl_rule
from kafka_shim.authorizer.acl_releases import rules_of
from kafka_shim.pipeline.acls.acl_set import AclSet
from kafka_shim.pipeline.acls.matches import SPOKEN_DDL, Signature, speaks
from kafka_shim.pipeline.acls.removable import Seen, acl_uses
from kafka_shim.pipeline.acls.verdict import QUESTION
from kafka_shim.pipeline.rows.roles import any_name_keys
from kafka_shim.protocol.enums import Operation, ResourceType

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row

SCHEMA = (
    "acl string, state string, requests long, last_used timestamp, shadowed_by string,"
    " can_go boolean, remove string"
)


def unused_acls(accesses: "DataFrame", present: AclSet) -> "DataFrame":
    """Return one row per ACL of the set; `remove` is the line that removes it, if it can be
    removed.

    `accesses` is `observed.needed(...)`. An ACL may be needed by requests that were not observed,
    so the observation must be long enough.
    """
    spoken = accesses.mapInArrow(speaks(present), SPOKEN_DDL)
    keys = ("is_simple", "allows", "denies", "others")
    grouped = spoken.groupBy(*keys).agg(
        f.sum("requests").alias("requests"), f.max("last_seen").alias("last_seen")
    )
    seen = [_seen(row) for row in grouped.collect()]
    special = [row.asDict() for row in _special(accesses, present.release).collect()]
    rows = [
        (
            acl_rule(use.acl),
            use.state,
            use.requests,
            use.last_used,
            None if use.shadowed_by is None else acl_rule(use.shadowed_by),
            use.can_go,
            command("--remove --force", use.acl) if use.can_go else None,
        )
        for use in acl_uses(present, seen, special)
    ]
    return accesses.sparkSession.createDataFrame(rows, SCHEMA)


def _special(accesses: "DataFrame", release: str) -> "DataFrame":
    """Return accesses that only the authorizer can decide.

    Their requirement can be met in another way, they are about any resource of a type, or the
    release overlooks ACLs.
    """
    questions = accesses.select(*QUESTION).distinct()
    if rules_of(release).search_stops_early:
        return questions
    about_any = f.lit(False)
    for api_key, operation, resource_type in any_name_keys():
        about_any = about_any | (
            (f.col("api_key") == int(api_key))
            & (f.col("operation") == Operation(operation).name)
            & (f.col("resource_type") == ResourceType(resource_type).name)
            & (f.col("resource_name") == "*")
        )
    return questions.where((f.size("instead") > 0) | about_any)


def _seen(row: "Row") -> Seen:
    signature = Signature(
        row["is_simple"], tuple(row["allows"]), tuple(row["denies"]), tuple(row["others"])
    )
    return signature, row["requests"], row["last_seen"]
