"""A small YAML text cannot expand to a large document by aliases."""

import tracemalloc
from pathlib import Path

import pytest

from kafka_shim.authorizer.acl_names import AclTextError
from kafka_shim.policy.formats.documents import load_document
from kafka_shim.shim.errors import ConfigError
from kafka_shim.shim.settings.state_file import read_state_file


def laughs(head: str, levels: int = 12) -> str:
    """Return lists of which each contains the previous one ten times."""
    rows = ["&a0 [x, x]"]
    rows += [f"&a{at} [{', '.join([f'*a{at - 1}'] * 10)}]" for at in range(1, levels)]
    return head + "".join(f"  - {row}\n" for row in rows)


def merges(levels: int = 12) -> str:
    rows = ["m0: &m0 {k: v, l: w}"]
    rows += [
        f"m{at}: &m{at} {{<<: [{', '.join([f'*m{at - 1}'] * 10)}], n{at}: 1}}"
        for at in range(1, levels)
    ]
    return "\n".join(rows)


BOMBS = {
    "lists": laughs("topics:\n- \n"),
    "mappings": laughs("topics: \n").replace("- &", "? &"),
    "merges": merges(),
    "itself": "topics:\n- &a [*a, *a]\n",
    "a long chain": "\n".join(f"- &a{at} [*a{at - 1}]" if at else "- &a0 x" for at in range(9000)),
}


@pytest.mark.timeout(20, func_only=True)
@pytest.mark.parametrize("text", BOMBS.values(), ids=BOMBS)
def test_a_bomb_is_rejected(text: str) -> None:
    tracemalloc.start()
    with pytest.raises(AclTextError):
        load_document(text)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 64 * 1024 * 1024


@pytest.mark.timeout(20, func_only=True)
def test_a_state_file_with_a_bomb_is_reported_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "state.yaml"
    path.write_text(laughs("topics:\n- \n"))
    with pytest.raises(ConfigError) as caught:
        read_state_file(str(path))
    assert len(str(caught.value)) < 500


def test_ordinary_aliases_are_followed() -> None:
    text = "base: &base {principal: 'User:*', allow: [Read]}\nacls: [*base, {<<: *base, topic: t}]"
    found = load_document(text)
    assert found["acls"][1] == {"principal": "User:*", "allow": ["Read"], "topic": "t"}
