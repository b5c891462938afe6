"""No error of a file shows a secret, a control character or a long value, and each names its file.

Each reader gets files with a mistake next to a secret, a long value or an escape sequence.
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from kafka_shim.cli import EXIT_MISMATCH, EXIT_USAGE, main
from kafka_shim.text.message_text import PATH_MAX, VALUE_MAX

SECRET = "Hunter2Hunter2"
LONG = "q" * 5000
ESCAPE = "\x1b[31m\x07\u202e"
PROPERTIES = f"""\
listeners=SASL_SSL://127.0.0.1:0
sasl.enabled.mechanisms=PLAIN
ssl.keystore.password={SECRET}
ssl.key.password={SECRET}
delegation.token.secret.key={SECRET}
listener.name.sasl_ssl.plain.sasl.jaas.config=PlainLoginModule required user_a="{SECRET}";
"""
CLIENT_PROPERTIES = f"""\
security.protocol=SASL_PLAINTEXT
sasl.mechanism=PLAIN
username=alice
password={SECRET}
ssl.key.password={SECRET}
"""
RUN = ("run", "--listener", "PLAINTEXT://127.0.0.1:0")
READERS: Mapping[str, tuple[tuple[str, ...], str]] = {
    "state": ((*RUN, "--state", "FILE", "--", "true"), "yaml"),
    "yaml": (("run", "--config", "FILE", "--", "true"), "yaml"),
    "toml": (("run", "--config", "FILE", "--", "true"), "toml"),
    "properties": (("run", "--config", "FILE", "--", "true"), "properties"),
    "client": (
        ("acls", "--bootstrap-server", "127.0.0.1:1", "--command-config", "FILE", "--list"),
        "properties",
    ),
    "upstream": (
        ("proxy", "--upstream", "127.0.0.1:1", "--record", "DIR", "--upstream-config", "FILE"),
        "properties",
    ),
    "proxy": (
        ("proxy", "--upstream", "127.0.0.1:1", "--record", "DIR", "--tls-config", "FILE"),
        "properties",
    ),
    "acls": (("acls", "--acls", "FILE", "--format", "csv"), "yaml"),
    "initial acls": ((*RUN, "--acls", "FILE", "--", "true"), "yaml"),
    "lint": (("policy", "lint", "FILE"), "yaml"),
    "expectations": (("policy", "test", "FILE", "--acls", "ACLS"), "yaml"),
    "toml expectations": (("policy", "test", "FILE", "--acls", "ACLS"), "toml"),
}
"""The words of each reader's command, and its kind of file."""

CSV = "KafkaPrincipal,ResourceType,PatternType,ResourceName,Operation,PermissionType,Host\n"
YAML_ESCAPE = "\\e[31m\\x07\\u202e"
TOML_ESCAPE = "\\u001b[31m\\u0007\\u202e"
JAAS = "listener.name.sasl_ssl.plain.sasl.jaas.config"
STRIMZI = f"""\
apiVersion: kafka.strimzi.io/v1
kind: KafkaUser
metadata: {{name: '{LONG}'}}
spec: {{authentication: {{password: {SECRET}}}, authorization: {{acls: ['{LONG}']}}}}
"""
CASES: tuple[tuple[str, str], ...] = (
    ("state", f"users: {{alice: {{password: {SECRET}}}}}\n"),
    ("state", f"users:\n- [alice, {SECRET}]\n"),
    ("state", f"users: alice:{SECRET}\n"),
    ("state", f"users:\n- {{name: alice, password: {SECRET}: x}}\n"),
    ("state", f"users: {{alice: [{SECRET}]}}\n"),
    ("state", f"users: {{alice: *{SECRET}}}\n"),
    ("state", f'users:\n  alice: "{SECRET}\n'),
    ("state", f"users: {{alice: {SECRET}}}\ntopics: {{'{LONG}': 1}}\n"),
    ("state", f"users: {{alice: {SECRET}}}\nacls: [{{principal: '{LONG}'}}]\n"),
    ("state", f'topics: ["{YAML_ESCAPE}"]\n'),
    ("state", f'topics:\n- "{YAML_ESCAPE}": 1\n'),
    ("state", f'"{YAML_ESCAPE}": 1\n'),
    ("state", f"topics: {{t: {{configs: {{retention.ms: '{LONG}'}}}}}}\n"),
    ("state", f'groups: {{g: {{"{YAML_ESCAPE}": {{0: 1}}}}}}\n'),
    ("state", f"super_users: ['{LONG}']\n"),
    ("state", f"client_metrics: {{'{LONG}': {{interval.ms: x}}}}\n"),
    ("state", f"faults: [{{match: {{api: '{LONG}'}}, action: {{delay_ms: 1}}}}]\n"),
    ("state", f"faults: [{{match: {{principal: '{LONG}'}}, action: {{x: 1}}}}]\n"),
    ("yaml", f"user: [['alice', {SECRET}]]\n"),
    ("yaml", f"user: [{SECRET}]\n"),
    ("yaml", f"user: {{alice: [{SECRET}]}}\n"),
    ("yaml", f"user: {{alice: {SECRET}}}\nbroker-config: {{num.partitions: '{LONG}'}}\n"),
    ("yaml", f"user: {{alice: {SECRET}}}\nlistener: '{LONG}'\n"),
    ("yaml", f"control-token: {SECRET}\nbrokers: '{LONG}'\n"),
    ("yaml", f"control-token: [{SECRET}, [x]]\n"),
    ("yaml", f'"{YAML_ESCAPE}": 1\n'),
    ("yaml", f'broker-config: {{num.partitions: "{YAML_ESCAPE}"}}\n'),
    ("yaml", f"broker-config: {{ssl.key.password: {SECRET}, num.partitions: x}}\n"),
    ("toml", f'user = ["{SECRET}"]\n'),
    ("toml", f'user = ["alice:{SECRET}"\nbrokers = 1\n'),
    ("toml", f'user = ["alice:{SECRET}"]\nbrokers = "{LONG}"\n'),
    ("toml", f'listener = "{TOML_ESCAPE}"\n'),
    ("toml", f'user = ["alice:{SECRET}"]\nbrokers = {"[" * 5000}{"]" * 5000}\n'),
    ("toml", f'user = ["alice:{SECRET}"]\n"broker\\u0073" = "{LONG}"\n'),
    ("toml", f'broker-config = {{"num\\u002epartitions" = "{LONG}"}}\n'),
    ("toml", f"brokers = {'9' * 5000}\n"),
    ("yaml", f"user: [alice:{SECRET}]\nlistener: ['SSL://127.0.0.1:0']\n"),
    ("yaml", f"user: [alice:{SECRET}]\nbrokers: {'[' * 200}\n"),
    ("yaml", f"user: [alice:{SECRET}]\nbrokers: 2024-13-45\n"),
    ("yaml", f"[{SECRET}]\n"),
    ("yaml", f"user: [alice:{SECRET}]\n--- {{brokers: 1}}\n"),
    ("properties", PROPERTIES + f"num.partitions={LONG}\n"),
    ("properties", PROPERTIES + "num.partitions=\\u001b[31m\\u0007\n"),
    ("properties", PROPERTIES + f"listeners=SSL://{LONG}\n"),
    ("properties", PROPERTIES + "ssl.keystore.location=/nowhere\n"),
    ("properties", PROPERTIES + f"ssl.client.auth={LONG}\n"),
    ("properties", PROPERTIES + f"ssl.principal.mapping.rules={LONG}\n"),
    ("properties", PROPERTIES + f"sasl.enabled.mechanisms={LONG}\n"),
    ("properties", PROPERTIES + f"super.users={LONG}\n"),
    ("properties", PROPERTIES + f"authorizer.class.name={LONG}\n"),
    ("properties", PROPERTIES + f"broker.id={LONG}\n"),
    ("properties", PROPERTIES + f"broker.rack={LONG},,\n"),
    ("properties", PROPERTIES + f"advertised.listeners={LONG}\n"),
    ("properties", PROPERTIES + f"listener.security.protocol.map=SASL_SSL:{LONG}\n"),
    ("properties", PROPERTIES + f"num.partitons={LONG}\n"),
    ("properties", PROPERTIES + f"{JAAS}=PlainLoginModule required user_a={SECRET} {SECRET}\n"),
    ("properties", PROPERTIES + f'{JAAS}={SECRET} "{SECRET}\n'),
    ("properties", PROPERTIES + f"{JAAS}=PlainLoginModule required {SECRET} {SECRET} =;\n"),
    ("properties", f"delegation.token.secret.key={SECRET}\n{LONG}=\\ud800\n"),
    ("properties", PROPERTIES + "listeners=SSL://127.0.0.1:0\n"),
    ("properties", PROPERTIES + "ssl.keystore.type=PEM\n"),
    ("client", f"security.protocol=SASL_PLAINTEXT\npassword={SECRET}\n"),
    ("client", CLIENT_PROPERTIES + f"security.protocol={LONG}\n"),
    ("client", CLIENT_PROPERTIES + f"sasl.mechanism={LONG}\n"),
    ("client", CLIENT_PROPERTIES + f"request.timeout.ms={LONG}\n"),
    ("client", CLIENT_PROPERTIES + f"sasl.jaas.config={SECRET} required username={SECRET}\n"),
    ("client", CLIENT_PROPERTIES + f'sasl.jaas.config=X required username="{SECRET}\n'),
    ("client", CLIENT_PROPERTIES + "sasl.mechanism=\\u001b[31m\n"),
    ("upstream", CLIENT_PROPERTIES + f"sasl.mechanism={LONG}\n"),
    ("proxy", PROPERTIES + "ssl.keystore.location=/nowhere\n"),
    ("proxy", PROPERTIES + f"ssl.client.auth={LONG}\n"),
    ("acls", f"acls: [{{principal: User:a, allow: '{LONG}', topic: t}}]\n"),
    ("acls", f'acls: [{{principal: User:a, "{YAML_ESCAPE}": Read, topic: t}}]\n'),
    ("acls", f"users: {{alice: {SECRET}}}\nacls: {{alice: {SECRET}}}\n"),
    ("acls", f"root:x:{SECRET}:0\nuser:x:1:{SECRET}\n"),
    ("acls", CSV + f"User:{LONG},Topic,{LONG},t,Read,Allow,*\n"),
    ("acls", CSV + f"User:a,Topic,LITERAL,t,{ESCAPE},Allow,*\n"),
    ("acls", f"kafka-acls --add --topic t --allow-principal User:a --operation {LONG}\n"),
    ("acls", f"kafka-acls --command-config {SECRET} --allow-principal User:a --{LONG}\n"),
    ("acls", f'resource "kafka_acl" "a" {{\n acl_principal = "User:a"\n {LONG} = 1\n}}\n'),
    ("acls", f'[{{"principal": "User:{LONG}", "operation": "{LONG}"}}]'),
    ("acls", f"Current ACLs for resource `ResourcePattern(resourceType={LONG})`:\n"),
    ("acls", STRIMZI),
    ("initial acls", f"acls: [{{principal: '{LONG}', allow: Read, topic: t}}]\n"),
    ("lint", f"users: {{alice: {SECRET}}}\nacls: [{{principal: User:a, allow: Fly, topic: t}}]\n"),
    ("lint", f'acls: [{{principal: User:a, allow: Read, topic: t, "{YAML_ESCAPE}": 1}}]\n'),
    ("expectations", f"expect: [{{principal: '{LONG}', may: Read, topic: t}}]\n"),
    ("expectations", f"expect: [{{principal: User:a, may: '{LONG}', topic: t}}]\n"),
    ("expectations", f'expect: [{{principal: User:a, may: Read, "{YAML_ESCAPE}": t}}]\n'),
    ("expectations", f"expect: [{{principal: User:a, can: '{LONG}', topic: t}}]\n"),
    ("expectations", f"expect: [{{nobody-but: ['{LONG}'], may: Read, topic: t}}]\n"),
    ("toml expectations", f'[[expect]]\nprincipal = "{LONG}"\nmay = "Read"\ntopic = "t"\n'),
    ("toml expectations", f'[[expect]]\nprincipal = "User:a"\nmay = "{LONG}"\ntopic = "t"\n'),
    ("toml expectations", f'[[expect]]\n"{TOML_ESCAPE}" = 1\n'),
    ("toml expectations", f'expect = [{{principal = "User:a"}}, {{principal = "{LONG}"}}]\n'),
    ("toml expectations", f'"rele\\u0061se" = "{LONG}"\n[[expect]]\nprincipal = "User:a"\n'),
    ("expectations", f"expect: [{{principal: User:a}}]\nsuper-users: ['{LONG}']\n"),
    ("expectations", f"expect: {LONG}\n"),
)  # fmt: skip


@pytest.mark.parametrize("number", range(len(CASES)))
def test_errors_show_neither_secrets_nor_long_or_unprintable_values(
    number: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    reader, content = CASES[number]
    words, kind = READERS[reader]
    file = tmp_path / f"hostile.{kind}"
    file.write_text(content.replace("DIR", str(tmp_path)))
    (tmp_path / "acls.csv").write_text(CSV + "User:a,Topic,LITERAL,t,Read,Allow,*\n")
    replacements = {
        "FILE": str(file), "DIR": str(tmp_path / "dir"), "ACLS": str(tmp_path / "acls.csv")
    }  # fmt: skip
    try:
        code = main([replacements.get(word, word) for word in words])
    except SystemExit as ended:
        code = int(ended.code or 0)
    printed = capsys.readouterr()
    assert code == EXIT_USAGE, printed
    output = printed.out + printed.err
    assert SECRET not in output
    assert "q" * (VALUE_MAX + 1) not in output
    assert all(char.isprintable() or char == "\n" for char in output), output
    assert file.name in printed.err
    assert re.search(rf"{re.escape(file.name)}(: line |:)\d+", printed.err), printed.err


HOSTILE_NAME = "User:\x1b[31m" + LONG


@pytest.mark.parametrize("command", ["lint", "test"])
def test_findings_show_neither_unprintable_nor_very_long_names(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    acls, expectations = tmp_path / "acls.json", tmp_path / "expect.json"
    acl = {"principal": HOSTILE_NAME, "deny": "Read", "topic": "t"}
    acls.write_text(json.dumps({"acls": [acl, acl]}))
    expectation = {"principal": HOSTILE_NAME, "may": "Read", "topic": "t"}
    expectations.write_text(json.dumps({"expect": [expectation]}))
    files = [str(acls)] if command == "lint" else [str(expectations), "--acls", str(acls)]
    assert main(["policy", command, *files]) == EXIT_MISMATCH
    output = "".join(capsys.readouterr())
    assert re.search(r"\\(x1b|u001b)\[31mqqq", output)
    assert "\x1b" not in output
    assert "q" * (PATH_MAX + 1) not in output
