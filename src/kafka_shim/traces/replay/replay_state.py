"""What a replay has learned, in a file beside the trace, so that it can go on after it was ended.

The file is a Python literal: reading it executes nothing.
"""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kafka_shim.shim.errors import ConfigError
from kafka_shim.traces.replay.offset_mapping import PartitionOffsets, WrittenRange
from kafka_shim.traces.replay.recorded_to_target_mapping import RecordedToTargetMapping
from kafka_shim.traces.replay.target_cluster import TargetCluster

_FORMAT = 1


def state_path(trace: Path) -> Path:
    """Return the path of the file for a trace."""
    return trace.with_name(f"{trace.name}.resume")


def write_state(
    path: Path, replayed_events: int, mapping: RecordedToTargetMapping, cluster: TargetCluster
) -> None:
    """Write the number of replayed events, and what was learned. Raise OSError if that fails."""
    state = {
        "format": _FORMAT,
        "events": replayed_events,
        "offsets": {
            key: _partition_state(partition)
            for key, partition in mapping.offsets.partitions.items()
        },
        "objects": [plain_vars(each) for each in _iter_state_objects(mapping, cluster)],
    }
    new = path.with_name(f"{path.name}.new")
    new.write_text(repr(state))
    new.rename(path)


def restore_state(path: Path, mapping: RecordedToTargetMapping, cluster: TargetCluster) -> int:
    """Restore what was learned; return the number of events that were replayed.

    Raise ConfigError if the file cannot be read.
    """
    try:
        state = ast.literal_eval(path.read_text())
        if state["format"] != _FORMAT:
            raise ConfigError(f"`{path}` was written by another release: replay from the beginning")
        for each, values in zip(
            _iter_state_objects(mapping, cluster), state["objects"], strict=True
        ):
            vars(each).update(values)
        for key, (written, others) in state["offsets"].items():
            partition = mapping.offsets.of(key)
            partition.written = [WrittenRange(*row) for row in written]
            vars(partition).update(others)
        return int(state["events"])
    except OSError as error:
        raise ConfigError(f"--resume: cannot read `{path}`: {error.strerror}") from error
    except (ValueError, SyntaxError, KeyError, TypeError) as error:
        raise ConfigError(f"--resume: `{path}` is damaged: replay from the beginning") from error


def _iter_state_objects(mapping: RecordedToTargetMapping, cluster: TargetCluster) -> Iterator[Any]:
    """Yield the objects whose state is plain values, apart from objects in it."""
    yield from (mapping, mapping.ids, mapping.leaders, mapping.offsets, cluster, cluster.topology)


def plain_vars(each: Any) -> dict[str, Any]:
    """Return the attributes of an object that are numbers, texts, or containers of such."""
    return {name: value for name, value in vars(each).items() if _is_plain(value)}


def _is_plain(value: object) -> bool:
    if isinstance(value, dict):
        return all(_is_plain(key) and _is_plain(content) for key, content in value.items())
    if isinstance(value, list | set | frozenset):
        return all(map(_is_plain, value))
    if type(value) is tuple:
        return all(map(_is_plain, value))
    return value is None or type(value) in (bool, int, float, str, bytes)


def _partition_state(partition: PartitionOffsets) -> tuple[list[Any], dict[str, Any]]:
    rows = [(row.first, row.end, row.target, row.is_transactional) for row in partition.written]
    others = plain_vars(partition)
    others.pop("written", None)
    return rows, others
