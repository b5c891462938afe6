"""Commands in Compose files, as `compose-go` 2.4.0 loads the files.

In what is rejected here, it has no such command, another one, or one that is not started, or it
rejects the file.
"""

import pytest

from kafka_shim.authorizer.acl_names import AclTextError
from kafka_shim.policy.formats import parse_distinct_acls
from kafka_shim.policy.formats.trace_rule import format_acl_rule

GRANT = (
    "kafka-acls --bootstrap-server b:9092 --add --allow-principal User:a --operation Read --topic t"
)
DENIAL = GRANT.replace("--allow", "--deny")
SERVICE = f"services:\n  init:\n    image: example/kafka\n    command: {GRANT}\n"
ALLOWED = "TOPIC|t|LITERAL|User:a|*|READ|ALLOW"
DENIED = "TOPIC|t|LITERAL|User:a|*|READ|DENY"


def rules(text: str) -> list[str]:
    return [format_acl_rule(acl) for acl in parse_distinct_acls(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (SERVICE, [ALLOWED]),
        (SERVICE.replace(GRANT, f"[{GRANT.replace(' ', ', ')}]"), [ALLOWED]),
        (SERVICE.replace(GRANT, f'[bash, -c, "{GRANT} && {DENIAL}"]'), [ALLOWED, DENIED]),
        (
            SERVICE.replace(GRANT, f">\n      bash -c '{GRANT} &&\n      {DENIAL}'"),
            [ALLOWED, DENIED],
        ),
        (f"x-c: &c\n  {GRANT}\n" + SERVICE.replace(GRANT, "*c"), [ALLOWED]),
        (
            f"x-s: &s {{command: {GRANT}}}\n" + SERVICE.replace(f"command: {GRANT}", "<<: *s"),
            [ALLOWED],
        ),
        (SERVICE + f"    post_start: [{{command: {DENIAL}}}]\n", [ALLOWED, DENIED]),
        (SERVICE + f"    labels: {{x: {DENIAL}}}\n    x-note: {DENIAL}\n", [ALLOWED]),
        (
            f"x-b: &b {{command: {DENIAL}}}\n" + SERVICE.replace("command", "<<: *b\n    command"),
            [ALLOWED],
        ),
        (
            SERVICE + f"  more:\n    extends: {{service: init}}\n    command: {DENIAL}\n",
            [ALLOWED, DENIED],
        ),
    ],
)
def test_commands_are_those_of_the_services(text: str, expected: list[str]) -> None:
    assert rules(text) == expected


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            SERVICE + "    profiles: [setup]\n",
            "service init: whether it runs depends on `profiles`",
        ),
        (SERVICE + "    scale: 0\n", "service init: whether it runs depends on `scale`"),
        (
            SERVICE + "    deploy: {replicas: 0}\n",
            "service init: whether it runs depends on `deploy`",
        ),
        (SERVICE + "    extends: {file: a.yml, service: b}\n", "init: `extends` is not evaluated"),
        ("include: [other.yml]\n" + SERVICE, "`include` is not evaluated"),
        (SERVICE + "---\n" + SERVICE.replace(GRANT, DENIAL), "Compose merges the documents"),
        (SERVICE + f"    command: {DENIAL}\n", "not YAML: duplicate key `command`"),
        (SERVICE.replace("    command", "\tcommand"), "not YAML: found a tab character"),
        (
            SERVICE.replace("command: ", "command: echo\n    environment:\n      A: "),
            "is in a text",
        ),
        (SERVICE.replace("command: ", "command: echo\n    environment:\n    - A="), "is in a text"),
        (f"x-c: &c {GRANT}\n" + SERVICE.replace(GRANT, "echo"), "no kafka-acls command in it"),
        (SERVICE.replace(" t\n", " $$TOPIC\n"), "is a shell expression"),
        (SERVICE.replace(" t\n", " ${TOPIC:-t}\n"), "is a shell expression"),
    ],
)
def test_what_compose_may_not_run_is_rejected(text: str, said: str) -> None:
    with pytest.raises(AclTextError) as caught:
        rules(text)
    assert said in caught.value.message


JOB = f"""\
apiVersion: batch/v1
kind: CronJob
spec:
  suspend: false
  jobTemplate:
    spec:
      containers:
      - env: [{{name: A, value: b}}]
        command: [sh, -c, "{GRANT}"]
"""


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("", "", ""),
        ("false", "true", "suspend"),
        ("suspend: false", "replicas: 0", "replicas"),
        ("value: b", f"value: {GRANT}", "is in a text or a variable"),
    ],
)
def test_commands_that_kubernetes_does_not_run_are_rejected(old: str, new: str, said: str) -> None:
    if not said:
        assert rules(JOB) == [ALLOWED]
        return
    with pytest.raises(AclTextError) as caught:
        rules(JOB.replace(old, new, 1))
    assert said in caught.value.message
