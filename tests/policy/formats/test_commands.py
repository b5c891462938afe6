"""Scripts with kafka-acls commands, as users write them; right values are those of AclCommand."""

import pytest
from hypothesis import given, settings, strategies as st

from kafka_shim.authorizer.acl_names import AclTextError
from kafka_shim.policy.formats import detect_format, parse_acls_with_lines
from kafka_shim.policy.formats.kafka_commands import parse_known_commands
from kafka_shim.policy.formats.shell_words import MARK
from kafka_shim.policy.formats.trace_rule import format_acl_rule
from tests.policy.formats.samples import refusal, rules

GRANT = (
    "kafka-acls --bootstrap-server $BROKERS --add --allow-principal {} --operation Read --topic x"
)
READ = "kafka-acls --bootstrap-server b:9092 --add --allow-principal User:a --operation Read"
READ_ORDERS = f"{READ} --topic orders"
ORDERS = "TOPIC|orders|LITERAL|User:a|*|READ|ALLOW"
EVERY = "TOPIC|*|LITERAL|User:a|*|READ|ALLOW"


@pytest.mark.parametrize("word", ["User:$WHO", '"User:${WHO}"', "User:$(whoami)", "User:`whoami`"])
def test_shell_expansions_are_rejected(word: str) -> None:
    with pytest.raises(AclTextError, match=r"^line 2: `User:.*` is a shell expression"):
        rules(f"#!/bin/sh\n{GRANT.format(word)}\n", "commands")


@pytest.mark.parametrize(
    ("word", "principal"),
    [("'User:$WHO'", "User:$WHO"), (r"User:\$WHO", "User:$WHO"), ("User:a$", "User:a$")],
)
def test_characters_that_a_shell_keeps_are_literal(word: str, principal: str) -> None:
    [rule] = rules(GRANT.format(word), "commands")
    assert rule == f"TOPIC|x|LITERAL|{principal}|*|READ|ALLOW"


BEHIND_TOOLS = [
    "docker exec broker {}",
    "docker exec -it -e X=y $(docker ps -qf name=broker) {}",
    "docker compose -f a.yml exec -T broker /opt/kafka/bin/{}",
    "docker-compose exec broker {} 2>&1 | tee -a log",
    "podman run --rm --network host example/kafka {}",
    "kubectl -n kafka exec -it broker-0 -c kafka -- bin/{}",
    "kubectl run acls --rm -i --restart=Never --image=example/kafka -- {}",
    "sudo -u kafka {} || exit 1",
    "time timeout 30 {} > /dev/null &",
    "KAFKA_OPTS='-Dx=y z' A=b {}",
    '"$KAFKA_HOME"/bin/{}',
    "${{KAFKA_BIN}}{}",
    "RUN sleep 5 && {}",
    "if {}; then echo granted; fi",
    "until {}; do sleep 1; done",
    "( cd /opt && {} )",
    "{{ {}; }}",
    "out=$({})",
    'echo "$({})"',
    'sleep 10; echo "it\'s ready"; {}; echo done',
]
NESTED = [
    'bash -c "{}"',
    "bash -c '{}'",
    'sh -ec "set -x; {}"',
    'docker exec broker bash -c "{} && echo ok"',
    "docker exec broker /bin/bash -lc 'cd /opt\n{}'",
    'kubectl exec broker-0 -- sh -c "sleep 1; {}"',
    "docker exec broker bash -c \"sh -c '{}'\"",
    'eval "{}"',
    'ssh broker "{}"',
    "su - kafka -c '{}'",
    "bash <<EOF\n{}\nEOF",
    "docker exec -i broker bash -s <<'END'\nsleep 1\n{}\nEND",
    "cat <<-EOF | docker exec -i broker sh\n\t{}\n\tEOF",
    "bash <<< '{}'",
]


@pytest.mark.parametrize("form", [*BEHIND_TOOLS, *NESTED])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_commands_are_read_wherever_they_stand(form: str, end: str) -> None:
    script = f"export A=b\n{form.format(READ_ORDERS)}\necho 'that is all'\n"
    script = script.replace("\n", end)
    assert rules(script) == [ORDERS]
    assert detect_format(script) == "commands"


@pytest.mark.parametrize(
    ("options", "rule"),
    [
        ("--topic=*", EVERY),
        ("--topic '*'", EVERY),
        ('--topic "orders"', ORDERS),
        ("--topic \\\n  orders", ORDERS),
        ("--topic  ord\\\ners", ORDERS),
        ("--topic ord''ers # a comment", ORDERS),
        ("--topic ord$", "TOPIC|ord$|LITERAL|User:a|*|READ|ALLOW"),
        ("--topic a#b", "TOPIC|a#b|LITERAL|User:a|*|READ|ALLOW"),
        ("--topic 'a b' --force", "TOPIC|a b|LITERAL|User:a|*|READ|ALLOW"),
        ("--topic=orders --command-config $CONFIG", ORDERS),
        ('--topic orders --command-config="${A:-b}"', ORDERS),
    ],
)
def test_words_are_those_of_a_shell(options: str, rule: str) -> None:
    assert rules(f"{READ} {options}") == [rule]
    nested = options.replace('"', '\\"').replace("$CONFIG", "\\$CONFIG").replace("${", "\\${")
    if "\n" not in options:
        assert rules(f'docker exec broker bash -c "{READ} {nested}"') == [rule]


@pytest.mark.parametrize(
    "options",
    [
        "--cluster kafka-cluster",
        "--cluster",
        "--cluster=kafka-cluster",
        "--cluster other",
        "--cluster kafka-cluster --force",
    ],
)
def test_the_cluster_may_have_a_name_as_for_kafka_acls(options: str) -> None:
    """Its option parser has no argument for --cluster, and ignores further words."""
    grant = "kafka-acls --bootstrap-server b:9092 --add --allow-principal User:a --operation Alter"
    assert rules(f"{grant} {options}") == ["CLUSTER|kafka-cluster|LITERAL|User:a|*|ALTER|ALLOW"]


LOOP = "\nfor topic in orders bills; do\n  {} --topic $topic\ndone\n"


@pytest.mark.parametrize(
    ("script", "line", "reason"),
    [
        (LOOP.format(READ), 3, "depends on the `for` of line 2"),
        (
            f"\nwhile read t; do\n{READ_ORDERS}\ndone < topics",
            3,
            "on the `while` of line 2",
        ),
        (f"until {READ_ORDERS}; do {READ} --topic b; done", 1, "depends on the `until` of line 1"),
        (f"if [ -f x ]\nthen {READ_ORDERS}\nfi", 2, "depends on the `if` of line 1"),
        (f"if a; then b; else\n{READ_ORDERS}\nfi", 2, "depends on the `if` of line 1"),
        (f"case $1 in\n  a|b)\n{READ_ORDERS};;\nesac", 3, "depends on the `case` of line 1"),
        (f"grant() {{\n{READ_ORDERS}\n}}\ngrant", 2, "depends on the `function` of line 1"),
        (f"function grant {{\n{READ_ORDERS}\n}}", 2, "depends on the `function` of line 1"),
        (f"for i in 1; do bash -c '{READ_ORDERS}'; done", 1, "depends on the `for` of line 1"),
        (f"false || {READ_ORDERS}", 1, "runs only if the command before it fails"),
        (f"[ -f x ] && {READ_ORDERS}", 1, "or a test holds"),
        (f"a || {{\n{READ_ORDERS}; }}", 2, "depends on the group of commands of line 1"),
        (f"[ -f x ] && ( {READ_ORDERS} )", 1, "depends on the group of commands of line 1"),
        (
            f"{READ} --topic $TOPIC",
            1,
            "`$TOPIC` is a shell expression, or has a NUL: write its value",
        ),
        (f"{READ} $OPTIONS", 1, "`$OPTIONS` is a shell expression"),
        (f'{READ} "$@"', 1, "`$@` is a shell expression"),
        (f"{READ} --topic {{a,b}}", 1, "`{a,b}` is a shell expression"),
        (f"{READ} --topic '{{{{ item }}}}'", 1, "`{{ item }}` is a shell expression"),
        (f"{READ} --topic $(cat topics)", 1, "`$(cat topics)` is a shell expression"),
        (f"{READ} --topic `cat topics`", 1, "cat topics`` is a shell expression"),
        (f'bash -c "{READ} --topic $TOPIC"', 1, "`$TOPIC` is a shell expression"),
        (f"bash <<EOF\n\n{READ} --topic $TOPIC\nEOF", 3, "`$TOPIC` is a shell expression"),
        ('A="kafka-acls --add"\n$A --allow-principal User:a --topic t', 2, "a text or a variable"),
        (f"echo '{READ_ORDERS}' | bash", 1, "the text for a shell is not evaluated"),
        (f"cat > a.sh <<EOF\n{READ_ORDERS}\nEOF", 1, "a here-document that no shell"),
        (f"cat topics | xargs -n 1 {READ} --topic", 1, "the words that xargs adds"),
        ("\n./create-acls.sh", 2, "it may change ACLs, and is not a kafka-acls command"),
        ("\nbash acls/all.sh", 2, "it may change ACLs"),
        ("\nconfluent kafka acl create --allow", 2, "it may change ACLs"),
        ("\nrpk security acl create --topic a", 2, "it may change ACLs"),
        (f"while read a; do eval $a; done <<EOF\n{READ_ORDERS}\nEOF", 1, "a here-document that no"),
        (f"{{ bash; }} <<EOF\n{READ_ORDERS}\nEOF", 1, "a here-document that no shell"),
        (f"((x=1<<2))\n{READ_ORDERS}", 1, "a here-document that no shell"),
        (f"A='{READ_ORDERS}'\nbash -c \"$A\"", 2, "kafka-acls is in a variable"),
        (f'A=({READ_ORDERS})\n"${{A[@]}}"', 2, "kafka-acls is in a variable"),
        (f"A='{READ_ORDERS}'\nB=$A\nbash <<EOF\n$B\nEOF", 3, "kafka-acls is in a variable"),
        (f"export A='{READ_ORDERS}'\necho $A | sh", 2, "kafka-acls is in a variable"),
        (
            "alias a='kafka-acls --add --allow-principal'\na User:a",
            2,
            "kafka-acls is in a variable",
        ),
        ("docker exec -i b bash < create-acls.sh", 1, "it may change ACLs"),
        (f"bash -c '$0 \"$@\"' {READ_ORDERS}", 1, "the arguments of a script"),
        (f'{READ} --topic "$TOPIC=x"', 1, "`$TOPIC=x` is a shell expression"),
        (f"`{READ_ORDERS}`", 1, "in a text or a variable"),
        (f"printf -v a '{READ_ORDERS}'; $a", 1, "kafka-acls is in a variable"),
        (f"for a in '{READ_ORDERS}'; do $a; done", 1, "kafka-acls is in a variable"),
        (f"a=$(echo {READ_ORDERS})\n$a", 2, "kafka-acls is in a variable"),
        (f"(echo '{READ_ORDERS}') > a.sh; sh a.sh", 1, "a file with kafka-acls"),
        (f"{{ echo '{READ_ORDERS}'; }} | sh", 1, "the text for a shell is not"),
        (f"echo '{READ_ORDERS}' | while read a; do $a; done", 1, "the text for a loop"),
        (f"echo '{READ_ORDERS}' > a.sh; bash a.sh", 1, "a file with kafka-acls"),
        (f'echo "${{A:-$({READ_ORDERS})}}"', 1, "kafka-acls is in an expansion"),
        ('bash -c "$(cat create-acls.sh)"', 1, "kafka-acls is in an expansion"),
        (f"bash <<EOF\n{READ} --topic \\$TOPIC\nEOF", 2, "`$TOPIC` is a shell expression"),
        ("curl https://example.org/acls.sh | bash", 1, "a shell runs what it prints"),
        ("kafka-run-class kafka.admin.AclCommand --remove --topic a", 1, "in a text or a variable"),
        (f"exit 0\n{READ_ORDERS}", 2, "depends on the `exit` of line 1"),
        (f"exec bash\n{READ_ORDERS}", 2, "depends on the `exec` of line 1"),
        (f'{READ} --topic $"orders"', 1, "is a shell expression"),
        (
            f"{READ_ORDERS} --resource-pattern-type any --resource-pattern-type literal",
            1,
            "several",
        ),
        ("kafka-acls --remove --topic orders --force", 1, "this command removes ACLs"),
        (f"{READ_ORDERS} 'x", 1, "incomplete command"),
        (f"{READ_ORDERS} $(x", 1, "incomplete command"),
    ],
)
def test_what_is_not_evaluated_is_named_with_its_line(script: str, line: int, reason: str) -> None:
    text = f"{script}\n" if "\n" in script else script
    acls, errors = parse_known_commands(f"{text}\n")
    assert [error.line for error in errors if reason in error.message] == [line]
    assert all(format_acl_rule(acl) == ORDERS for acl, _ in acls)
    assert reason in refusal(script, "commands")


@pytest.mark.parametrize(
    "line",
    [
        f"# {READ_ORDERS}",
        f"echo {READ_ORDERS}",
        f"echo '{READ_ORDERS}'",
        f'printf "%s\\n" "{READ_ORDERS}"',
        f"CMD='{READ_ORDERS}'",
        f'export CMD="{READ_ORDERS}"',
        "ARGS=(kafka-acls --add\n  --allow-principal User:a)",
        "kafka-acls --list --topic orders",
        "kafka-acls --version",
        "command -v kafka-acls > /dev/null || exit 1",
        "cat <<EOF\nit's not a \"quote\nEOF",
        "kafka-topics --create --topic acl-log --if-not-exists",
        "setfacl -m u:a:r x",
        "for t in a b; do kafka-topics --create --topic $t; done",
        "confluent kafka acl list",
        f"A='{READ_ORDERS}'\necho \"$A\"",
        f"echo '{READ_ORDERS}' >&2 2>/dev/null",
        f"{{\necho '{READ_ORDERS}' >> a.log\n}} 2>&1 | tee log",
        "exec > log 2>&1",
        "[ -z $A ] && exit 1",
        "usage() { exit 1; }",
    ],
)
def test_what_changes_no_acls_is_ignored(line: str) -> None:
    script = f"{line}\n{READ} --topic bills\n"
    assert rules(script, "commands") == ["TOPIC|bills|LITERAL|User:a|*|READ|ALLOW"]
    assert "no kafka-acls command in it that adds ACLs" in refusal(line, "commands")


@pytest.mark.parametrize(
    "script",
    [
        "bash -c '{{ x }}'",
        'bash -c "$(a b)"',
        "eval '$(echo kafka-acls )'",
        "sh -c '`a b`'",
        'a() { bash -c "${x:-a b}"; }',
        "$(" * 3000 + ")" * 3000,
        "bash -c " * 3000,
    ],
)
def test_expansions_and_nesting_end(script: str) -> None:
    acls, errors = parse_known_commands(script)
    assert acls == []
    assert errors


@pytest.mark.parametrize("rest", ["&& echo ok", "|| exit 1", "; date", "| tee log", "&", ")"])
def test_a_here_document_begins_on_the_next_line(rest: str) -> None:
    start = "(" if rest == ")" else ""
    assert rules(f"{start}docker exec -i b bash <<EOF {rest}\n{READ_ORDERS}\nEOF\n") == [ORDERS]


def test_the_rest_of_a_script_is_read() -> None:
    acls, errors = parse_known_commands(LOOP.format(READ) + READ_ORDERS)
    assert [(format_acl_rule(acl), line) for acl, line in acls] == [(ORDERS, 5)]
    assert [error.line for error in errors] == [3]


def test_commands_of_a_nested_script_have_their_own_lines() -> None:
    script = f"#!/bin/bash\ndocker exec -i b bash <<EOF\n\n{READ_ORDERS}\nEOF\n"
    assert [line for _, line in parse_acls_with_lines(script)] == [4]


COMPOSE = """\
services:
  init:
    image: example/kafka
    command: >
      bash -c "sleep 10 &&
      {}"
"""
JOB = """\
apiVersion: batch/v1
kind: Job
spec:
  template:
    spec:
      containers:
      - name: acls
        command: [/bin/sh, -c]
        args:
        - |
          set -e
          {}
"""
PLAYBOOK = """\
- hosts: brokers
  tasks:
  - name: grant with kafka-acls --add
    ansible.builtin.shell: |
      # reads
      {}
"""
WORDS = '", "'.join(READ_ORDERS.split())
YAML_FILES = {
    "compose-quoted": (
        "services:\n  a:\n    entrypoint: [/bin/sh, -c]\n    command: |\n"
        "      \"\n      # waits\n      sleep 1\n      echo -e 'grants'\n      {}\n      \"\n"
    ),
    "compose-entrypoint": (
        f'services: {{a: {{entrypoint: [kafka-acls], command: ["{WORDS}"]}}}}\n'.replace(
            'command: ["kafka-acls", ', "command: ["
        )
    ),
    "job-arguments": (
        f'kind: Job\nspec:\n- command: [bin/kafka-acls.sh]\n  args: ["{WORDS}"]\n'.replace(
            'args: ["kafka-acls", ', "args: ["
        )
    ),
    "compose": COMPOSE,
    "compose-words": f'services: {{a: {{command: ["{WORDS}"]}}}}\n',
    "compose-shell": "services:\n  a:\n    entrypoint: [bash, -c]\n    command: ['{}']\n",
    "job": JOB,
    "playbook": PLAYBOOK,
    "playbook-command": "- hosts: all\n  tasks:\n  - command: {}\n",
    "playbook-cmd": "- hosts: all\n  tasks:\n  - shell:\n      cmd: docker exec b {}\n",
    "playbook-argv": f'- hosts: all\n  tasks:\n  - command: {{argv: ["{WORDS}"]}}\n',
    "workflow": "on: push\njobs:\n  a:\n    steps:\n    - run: |\n        {}\n",
    "config-map": "kind: ConfigMap\napiVersion: v1\ndata:\n  a.sh: |\n    #!/bin/sh\n    {}\n",
}


@pytest.mark.parametrize("name", YAML_FILES)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_commands_in_yaml_are_read(name: str, end: str) -> None:
    text = YAML_FILES[name].replace("{}", READ_ORDERS).replace("\n", end)
    assert detect_format(text) == "commands"
    assert rules(text) == [ORDERS]


def test_commands_in_yaml_have_the_lines_of_the_file() -> None:
    [(_, line)] = parse_acls_with_lines(PLAYBOOK.format(READ_ORDERS))
    assert line == 6


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        (f"- command: {READ_ORDERS}\n  when: x\n", 1, "depends on the `when` of line 2"),
        (f"- command: {READ_ORDERS}\n  loop: [a]\n", 1, "depends on the `loop` of line 2"),
        (f"- command: {READ} --topic {{{{ t }}}}\n", 1, "`{{ t }}` is a shell expression"),
        (f"jobs:\n- run: {READ} --topic ${{{{ x.y }}}}\n", 2, "`${{ x.y }}` is a shell expression"),
        (f"a:\n  command: ['{WORDS.replace('orders', '{{ t }}')}']\n".replace('"', "'"), 2, "{{ t"),
    ],
)
def test_conditions_and_templates_in_yaml_are_named(text: str, line: int, reason: str) -> None:
    _, errors = parse_known_commands(text)
    assert [error.line for error in errors] == [line]
    assert reason in errors[0].message


def test_a_makefile() -> None:
    assert rules(f"acls: up\n\t{READ_ORDERS}\n\nup:\n\tdocker compose up -d\n") == [ORDERS]


def test_batch_files() -> None:
    command = READ_ORDERS.replace("kafka-acls", "call bin\\windows\\kafka-acls.bat")
    command = command.replace(" --topic", " ^\r\n --topic")
    text = f"@echo off\r\nrem {READ_ORDERS}\r\n{command}\r\n"
    assert rules(text) == [ORDERS]
    assert "`%TOPIC%` is a shell expression" in refusal(text.replace("orders\r\n", "%TOPIC%\r\n"))


@pytest.mark.parametrize(
    "text",
    [
        "# kafka-acls --add\nacls:\n- {principal: User:a, allow: Read, topic: orders}\n",
        "# kind: KafkaUser\nacls:\n- {principal: User:a, allow: Read, topic: orders}\n",
        "# as `kafka-acls --list` shows\n- {principal: User:a, allow: Read, topic: orders}\n",
        'acls: [{principal: "User:a", allow: Read, topic: orders}] # no kafka-acls here\n',
    ],
)
def test_rules_that_mention_the_tool_are_rules(text: str) -> None:
    assert rules(text) == [ORDERS]


PIECES = (
    *(READ_ORDERS, "'", '"', "`", "$(", ")", "(", "{", "}", "<<EOF", "\nEOF\n", "\n", ";", "&&"),
    *("||", "|", "\\", "$", "${", "for x in a; do ", "done", "if ", "then ", "fi", "case x in "),
    *("esac", " a) ", "<<<", "<(", ">", "&", "#", " ", "%A%", "{{ x }}", "bash -c ", "eval "),
    *("=(", "function f ", "!", "é", "\r\n", "- command: ", "a: |\n  "),
)


@settings(deadline=None)  # no deadline: the machine may be busy
@given(st.lists(st.sampled_from(PIECES), max_size=25).map("".join))
def test_any_text_is_read_or_rejected(script: str) -> None:
    acls, errors = parse_known_commands(script)
    assert len(acls) <= script.count(READ_ORDERS)
    assert not any(MARK in format_acl_rule(acl) for acl, _ in acls)
    assert all(error.message for error in errors)


def test_spaces_around_names_are_those_of_the_tool() -> None:
    """Compared with kafka-acls of 3.9.1, which trims all names but those of transactions."""
    grant = "kafka-acls --add --allow-principal User:a --operation Write"
    names = "--topic ' t ' --transactional-id ' x '"
    assert rules(f"{grant} {names}") == [
        "TOPIC|t|LITERAL|User:a|*|WRITE|ALLOW",
        "TRANSACTIONAL_ID| x |LITERAL|User:a|*|WRITE|ALLOW",
    ]


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("kill $$\n{}", "depends on the `kill` of line 1"),
        ("kill -9 $$\n{}", "depends on the `kill` of line 1"),
        ("command exit\n{}", "depends on the `command` of line 1"),
        ("false && {} orders", "or a test holds"),
        ("! grep orders topics && {} orders", "or a test holds"),
        ("! true && sudo {} orders", "or a test holds"),
        ("{} --deny-host ~", "is a shell expression"),
        ("ssh b bash -c '{} orders'", "the arguments of a script are not evaluated"),
        ("ssh b {} 'a b'", "unrecognized arguments: b"),
    ],
)
def test_what_bash_does_otherwise_is_named(script: str, reason: str) -> None:
    """Compared with bash: each of these scripts adds no ACL, or others."""
    assert reason in refusal(script.format(READ_ORDERS.replace(" orders", "")), "commands")


@pytest.mark.parametrize(
    "command",
    [
        "kafkactl create access-control-list -t y -o read -a -p User:z",
        "jikkou apply -f users.yaml",
        "zookeeper-shell z:2181 create /kafka-acl/Topic/y '{}'",
        "curl -X POST http://r/kafka/v3/clusters/x/acls -d '{}'",
        "kubectl apply -f - <<EOF\nkind: KafkaUser\nEOF",
        "rpk acl create --allow-role r --operation all --cluster",
        "topicctl create acls acls.yaml",
    ],
)
def test_commands_of_other_tools_are_named(command: str) -> None:
    acls, errors = parse_known_commands(f"{READ_ORDERS}\n{command}\nrpk security acl ls\n")
    assert ([format_acl_rule(acl) for acl, _ in acls], [each.line for each in errors]) == (
        *([ORDERS], [2]),
    )


@pytest.mark.parametrize("word", ["DescribeConfigs", "describeconfigs", "DESCRIBECONFIGS"])
def test_operations_have_no_underscore(word: str) -> None:
    """Compared with AclCommand of 2.8.2, 3.9.1 and 4.3.1."""
    grant = "kafka-acls --add --allow-principal User:a --topic t --operation"
    assert rules(f"{grant} {word}") == ["TOPIC|t|LITERAL|User:a|*|DESCRIBE_CONFIGS|ALLOW"]
    for other in ("DESCRIBE_CONFIGS", "Describe_Configs"):
        assert f"unknown operation `{other}`" in refusal(f"{grant} {other}")


def test_the_words_of_one_command_are_limited() -> None:
    """Their parsing takes time by the square of their number: minutes for 100,000."""
    assert rules(f"{READ_ORDERS} " + "--allow-host h " * 1_000)
    with pytest.raises(AclTextError, match="a command of 20009 words: expected at most 20000"):
        rules(f"{READ_ORDERS} " + "--allow-host h " * 10_000, "commands")
