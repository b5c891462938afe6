"""A plan that names a missing column or relation fails when its module is imported."""

import re
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import pytest

from kafka_shim.pipeline.engines.checked_sql import checked_sql

MODULES = ("acl_decisions", "least_grants")
_PLAN = re.compile(r'checked_sql\(\s*f?"""(.*?)"""', re.DOTALL)
_COLUMN = re.compile(r"\b([a-z])\.([a-z_]+)\b")


def planted_columns() -> list[tuple[str, int, str]]:
    """Return each place of a plan that names a column of a relation."""
    return [
        (module, plan.start(1) + place.start(2), place[0])
        for module in MODULES
        for plan in _PLAN.finditer(source(module))
        for place in _COLUMN.finditer(plan[1])
    ]


def source(module: str) -> str:
    spec = find_spec(f"kafka_shim.pipeline.{module}")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).read_text(encoding="utf-8")


def load(module: str, text: str) -> None:
    """Import a module from a changed source."""
    copy = ModuleType(f"planted_{module}")
    exec(compile(text, module, "exec"), copy.__dict__)


@pytest.mark.parametrize("module", MODULES)
def test_the_plans_name_columns_that_exist(module: str) -> None:
    load(module, source(module))


def test_each_column_of_a_plan_is_checked_at_import() -> None:
    places = planted_columns()
    assert len(places) > 50
    for module, at, name in places:
        text = source(module)
        with pytest.raises(ValueError, match=f"no column `{name[:2]}misspelt_{name[2:]}`"):
            load(module, f"{text[:at]}misspelt_{text[at:]}")


@pytest.mark.parametrize(
    ("query", "problem"),
    [
        ("select nme from {rows}", "no column `nme`"),
        ("select r.name from {rows} r where r.age > 1", "no column `r.age`"),
        ("select count(*) as n from {rows} group by town", "no column `town`"),
        ("select s.name from {rows} r", "no relation `s`"),
        ("select name from {people}", "people, rows"),
    ],
)
def test_unknown_names_are_errors(query: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        checked_sql(query, rows=["name"])


def test_texts_functions_and_new_names_are_no_columns() -> None:
    query = (
        "with known as (select upper(name) as big from {rows} where name <> 'it''s town')"
        " select k.big, r.name from known k join {rows} r on r.name = k.big order by big"
    )
    assert checked_sql(query, rows=["name"]) == query
