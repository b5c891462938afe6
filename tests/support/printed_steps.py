"""The steps of a remedy, read from the text that people copy."""

from collections.abc import Iterator

import yaml

from kafka_shim.authorizer.model import Acl
from kafka_shim.policy.formats import parse_distinct_acls


def parse_steps(text: str) -> Iterator[tuple[str, Acl]]:
    """Yield `add` or `remove` and its ACL, of `add {...}; remove {...} (...)`.

    A line ends where YAML ends it, so that a name that looks like a step is a name.
    """
    while text.startswith(("add {", "remove {")):
        verb, _, rest = text.partition(" ")
        depth = 0
        for token in yaml.scan(rest):
            depth += isinstance(token, yaml.FlowMappingStartToken | yaml.FlowSequenceStartToken)
            depth -= isinstance(token, yaml.FlowMappingEndToken | yaml.FlowSequenceEndToken)
            if depth == 0 and isinstance(token, yaml.FlowMappingEndToken):
                break
        end = token.end_mark.index
        for acl in parse_distinct_acls(rest[:end]):
            yield verb, acl
        text = rest[end:].removeprefix("; ")
