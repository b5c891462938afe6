"""The difference of two sets of ACLs as text, JSON, Markdown and HTML, which state the same."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from html import escape as escape_html
from typing import Any

import msgspec

from kafka_shim.authorizer.model import Action, Actor
from kafka_shim.policy.access_changes import AccessChange, access_changes
from kafka_shim.policy.descriptions import (
    access_change_object,
    implied_change_flags,
    signed_access_change_line,
    witness_line,
    witness_object,
)
from kafka_shim.policy.policy import Policy
from kafka_shim.policy.witness import Witness, witness_of_change
from kafka_shim.text.html_page import html_page_with_table
from kafka_shim.text.message_text import count_with_noun, escaped

COMMENT_CHARACTERS_MAX = 65_536
"""What GitHub and GitLab accept as one comment."""
_MARKER = "<!-- kafka-shim policy diff -->"
"""The first line of the Markdown, by which CI finds the comment to edit."""


class DescribedChange(msgspec.Struct, frozen=True, gc=False):
    """A change with one concrete access, and how often the trace of `--used-by` used it."""

    change: AccessChange
    witness: Witness | None
    use_count: int | None = None

    @property
    def text(self) -> str:
        used = f"  (used {self.use_count} times in the trace)" if self.use_count else ""
        return escaped(f"{signed_access_change_line(self.change)}{used}")

    @property
    def example(self) -> str:
        """Return the concrete access as text, or that there is none."""
        if self.witness is None:
            return "no client can notice it: no host or resource can have such a name"
        return escaped(f"e.g. {witness_line(self.witness)}")


class DiffRules(msgspec.Struct, frozen=True):
    """What decides besides the ACLs: the release, and settings whose values are assumed."""

    release: str
    assumed_settings: tuple[str, ...] = ()
    notes: Sequence[str] = ()
    """A line about the assumed settings, if there are any."""


def compared_rules(old: Policy, new: Policy) -> DiffRules:
    """Return the release of the new side, and the settings that are assumed on any side."""
    assumed = tuple(dict.fromkeys((*old.assumed_settings, *new.assumed_settings)))
    other_authorizer = new.other_authorizer or old.other_authorizer
    both = msgspec.structs.replace(new, assumed_settings=assumed, other_authorizer=other_authorizer)
    return DiffRules(new.release, assumed, both.assumption_notes)


def described_changes(
    old: Policy,
    new: Policy,
    access_counts: Mapping[tuple[Actor, Action], int] | None = None,
    report_change_count: Callable[[int], object] = int,
) -> list[DescribedChange]:
    """Return the changes with their examples, and with their uses among the counted accesses.

    Raise InexactReleaseError for a release whose decisions cannot be computed for all names.
    """
    before, after = old.authorizer(), new.authorizer()
    changes = access_changes(before, after, old.release, new.release, report_change_count)
    use_counts = None if access_counts is None else _count_lost_uses(access_counts, changes)
    return [
        DescribedChange(
            change,
            witness_of_change(change, before, after),
            None if use_counts is None else use_counts.get(change, 0),
        )
        for change in changes
    ]


def _count_lost_uses(
    access_counts: Mapping[tuple[Actor, Action], int], changes: Sequence[AccessChange]
) -> dict[AccessChange, int]:
    """Return how often each lost access was used."""
    losses = [change for change in changes if not change.gained]
    use_counts: dict[AccessChange, int] = {}
    for (actor, action), count in access_counts.items():
        for change in losses:
            if change.affects_access(actor, action):
                use_counts[change] = use_counts.get(change, 0) + count
    return use_counts


def sort_described_changes(
    described: Sequence[DescribedChange],
) -> list[DescribedChange]:
    """Return the changes without those that follow from others; used ones come first."""
    follow = implied_change_flags([each.change for each in described])
    return sorted(
        (each for each, follows in zip(described, follow, strict=True) if not follows),
        key=lambda each: -(each.use_count or 0),
    )


def diff_lines(described: Sequence[DescribedChange], rules: DiffRules) -> Iterator[str]:
    for each in sort_described_changes(described):
        yield each.text
        yield f"    {each.example}"
    if not described:
        yield "no difference: both sets decide every access alike"
    yield from rules.notes


def diff_html(described: Sequence[DescribedChange], rules: DiffRules) -> str:
    """Return a page with a row for each change: who gains (+) or loses (-) what, and an example."""
    listed = sort_described_changes(described)
    html_rows = (
        f"<td>{escape_html(each.text)}</td><td>{escape_html(each.example)}</td>" for each in listed
    )
    summary = f"{summary_text(listed)} (Kafka {rules.release})"
    note = "; ".join((summary, *rules.notes))
    return html_page_with_table("Kafka ACLs", ["change", "example"], html_rows, note)


def diff_object(described: Sequence[DescribedChange], rules: DiffRules) -> dict[str, Any]:
    follow = implied_change_flags([each.change for each in described])
    return {
        "release": rules.release,
        "assumed_settings": list(rules.assumed_settings),
        "changes": [
            {
                **access_change_object(each.change),
                "text": signed_access_change_line(each.change),
                "follows_from_others": follows,
                "witness": witness_object(each.witness),
                **({} if each.use_count is None else {"used": each.use_count}),
            }
            for each, follows in zip(described, follow, strict=True)
        ],
    }


def diff_markdown(described: Sequence[DescribedChange], rules: DiffRules, link: str | None) -> str:
    """Return a comment for a pull request, cut below the size that GitHub and GitLab accept."""
    listed = sort_described_changes(described)
    summary = f"**{summary_text(listed)}** (Kafka {rules.release})"
    summary = "\n\n".join((summary, *rules.notes))
    if not listed:
        return f"{_MARKER}\n{summary}\n"
    whole = _fenced_comment(summary, listed, ())
    if len(whole) < COMMENT_CHARACTERS_MAX:
        return whole
    where = f"[the complete list]({link})" if link else "`kafka-shim policy diff` prints all"
    kept: list[DescribedChange] = []
    size = len(_fenced_comment(summary, (), ("",))) + len(where) + 100
    for each in listed:
        size += len(each.text) + len(each.example) + 8
        if size >= COMMENT_CHARACTERS_MAX:
            break
        kept.append(each)
    note = f"{len(listed) - len(kept)} of {len(listed)} changes are not shown: {where}"
    return _fenced_comment(summary, kept, (note,))


def summary_text(listed: Sequence[DescribedChange]) -> str:
    """Return a summary such as `3 gain, 1 loses`, counted in principals."""
    if not listed:
        return "no difference in access"
    gaining, losing = (
        len({each.change.principal for each in listed if each.change.gained is gained})
        for gained in (True, False)
    )
    words = [
        f"{gaining} {'gains' if gaining == 1 else 'gain'}" if gaining else "",
        f"{losing} {'loses' if losing == 1 else 'lose'}" if losing else "",
    ]
    text = ", ".join(filter(None, words))
    return f"{text} access: {count_with_noun(len(listed), 'change')}"


def _fenced_comment(summary: str, changes: Iterable[DescribedChange], notes: Iterable[str]) -> str:
    lines = [line for each in changes for line in (each.text, f"    {each.example}")]
    fence = "`" * max(3, *(_longest_backtick_run(line) + 1 for line in lines), 0)
    return "\n".join((_MARKER, summary, "", f"{fence}diff", *lines, fence, *notes, ""))


def _longest_backtick_run(line: str) -> int:
    longest = length = 0
    for character in line:
        length = length + 1 if character == "`" else 0
        longest = max(longest, length)
    return longest
