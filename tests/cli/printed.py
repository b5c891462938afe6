"""The output of kafka-acls, sorted, since Java prints in hash order."""

import re

_SUPPORTED = re.compile(r"operations \[(.*)\]")


def normal(text: str) -> list[str]:
    """Return the sorted blocks of an output, each with sorted lines below its first."""
    blocks = []
    for block in re.split(r"\n(?=Current|Adding|ACLs for|Acl )", text):
        head, *entries = [line.strip() for line in block.strip().split("\n")]
        blocks.append("\n".join([head, *sorted(entries)]))
    return sorted(block for block in blocks if block)


def complaint(stderr: str) -> str:
    """Return the text of a usage error, with its operations sorted."""
    first = next((line for line in stderr.split("\n") if line.strip()), "").strip()
    found = _SUPPORTED.search(first)
    if found is not None:
        names = ", ".join(sorted(found[1].split(", ")))
        return first[: found.start(1)] + names + first[found.end(1) :]
    return first
