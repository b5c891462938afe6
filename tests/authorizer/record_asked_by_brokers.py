"""Record from release jars which authorization checks the brokers' own code makes.

    python tests/authorizer/record_asked_by_brokers.py kafka_2.13-4.3.1.jar ... \
        > tests/authorizer/asked_by_brokers.txt

The jars (org.apache.kafka:kafka_2.12 up to 2.3, kafka_2.13 from 2.4) of one patch release of each
minor release, oldest first; the jars that each one needs are in the same folder. Requires `javap`.
Each call of an authorizing method in the bytecode of a request handler is one check; operation and
resource type are the constants loaded before the call. A `~` marks a check whose denial is logged
at trace level only. For each release, only what differs from the one before is printed.
"""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from kafka_shim.protocol.enums import ApiKey, Operation, ResourceType

CLASSES = (
    "kafka.server.KafkaApis",
    "kafka.server.ControllerApis",
    "kafka.server.AclApis",
    "kafka.server.AuthHelper",
    "org.apache.kafka.server.AuthHelper",
    "kafka.server.ConfigHelper",
    "kafka.server.handlers.DescribeTopicPartitionsRequestHandler",
)
# A KRaft broker forwards these requests to its controller, which alone authorizes them.
FORWARDED = {
    *("CreateTopics", "DeleteTopics", "CreatePartitions", "AlterConfigs", "ElectLeaders"),
    *("IncrementalAlterConfigs", "AlterPartitionReassignments", "ListPartitionReassignments"),
    *("AlterClientQuotas", "AlterUserScramCredentials", "DescribeQuorum", "UpdateFeatures"),
    *("UnregisterBroker", "UnregisterController", "AddRaftVoter", "RemoveRaftVoter"),
}
# Methods whose names differ from handle<Api>[Request].
ASKING_FOR = {
    "handleTopicMetadataRequest": ("Metadata",),
    "handleListOffsetRequest": ("ListOffsets",),
    "handleListOffsetRequestV": ("ListOffsets",),
    "handleListOffsetRequestV1AndAbove": ("ListOffsets",),
    "handleDescribeGroupRequest": ("DescribeGroups",),
    "handleAddPartitionToTxnRequest": ("AddPartitionsToTxn",),
    "handleCreateTokenRequest": ("CreateDelegationToken",),
    "authorizeToken": ("DescribeDelegationToken",),
    "authorizeRequester": ("DescribeDelegationToken",),
    "authorizeTopicDescribe": ("OffsetFetch",),
    "partitionAuthorized": ("OffsetFetch",),
    "createResponse": ("OffsetFetch",),
    "fetchOffsets": ("OffsetFetch",),
    "fetchOffsetsForGroup": ("OffsetFetch",),
    "fetchAllOffsetsForGroup": ("OffsetFetch",),
    "handleOffsetFetchRequestFromCoordinator": ("OffsetFetch",),
    "getCoordinator": ("FindCoordinator",),
    "handleElectPreferredReplicaLeader": ("ElectLeaders",),
    "handleElectReplicaLeader": ("ElectLeaders",),
    "handleAlterIsrRequest": ("AlterPartition",),
    "processLegacyAlterConfigsRequest": ("AlterConfigs",),
    "processIncrementalAlterConfigsRequest": ("IncrementalAlterConfigs",),
    "authorizeAlterResource": ("AlterConfigs", "IncrementalAlterConfigs"),
    "configsAuthorizationApiError": ("DescribeConfigs", "AlterConfigs"),
    "filterAlterAuthorizedTopics": ("CreatePartitions",),
    "describeShareGroupOffsetsForGroup": ("DescribeShareGroupOffsets",),
    "describeShareGroupAllOffsetsForGroup": ("DescribeShareGroupOffsets",),
    "computeDescribeClusterResponse": ("DescribeCluster",),
    "handleListClientMetricsResources": ("ListConfigResources",),
}
CLUSTER_QUESTIONS = {
    "authorizeClusterAction": "CLUSTER_ACTION",
    "isAuthorizedClusterAction": "CLUSTER_ACTION",
    "authorizeClusterAlter": "ALTER",
    "authorizeClusterDescribe": "DESCRIBE",
}
CALL = re.compile(
    r"(authorize|authorizeByResourceType|(?:isA|a)uthorizeCluster\w+|isAuthorizedClusterAction|"
    r"authorizeClusterOperation|filterAuthorized|\w+ByAuthorized):\("
)
CONSTANT = re.compile(
    r"(?:AclOperation|ResourceType)\.(\w+):L|security/auth/(\w+)\$\.MODULE|"
    r"\w*[aA]uthoriz\w*(\$default\$\d)|(ClusterResource)\b"
)
WIRE_NAMES = {key.wire_name for key in ApiKey}


def calls(jar: Path, name: str) -> Iterator[tuple[str, str, list[str]]]:
    """Yield (method, the authorizing method it calls, constants since the previous call)."""
    words = ["javap", "-p", "-c", "-cp", f"{jar}:{jar.parent}/*", name]
    listing = subprocess.run(words, capture_output=True, text=True, check=False).stdout
    method, constants = "", list[str]()
    for line in listing.splitlines():
        code = re.match(r"\s+\d+: (\S+)(.*)", line)
        if code is None:
            if opening := re.match(r"  \S.*?([\w$]+)\(", line):
                method, constants = opening[1], []
            continue
        if code[1] in {"iconst_0", "iconst_1"}:
            constants.append(code[1][-1])
        called = CALL.search(code[2])
        if code[1].startswith("invoke") and called and "InvokeDynamic" not in code[2]:
            yield method, called[1], constants[-14:]
            constants = []
        else:
            constants += ["".join(filter(None, found)) for found in CONSTANT.findall(code[2])]


def question(call: str, constants: list[str]) -> str | None:
    """Return the check of one call, e.g. `CREATE CLUSTER~`; None if a constant is missing."""
    plain = [re.sub(r"(?<=[a-z])(?=[A-Z])", "_", word).upper() for word in constants]
    plain = ["CLUSTER" if word == "CLUSTER_RESOURCE" else word for word in plain]
    operations = [word for word in plain if word in Operation.__members__]
    types = [word for word in plain if word in ResourceType.__members__]
    if call in CLUSTER_QUESTIONS:
        return f"{CLUSTER_QUESTIONS[call]} CLUSTER"
    if call == "authorizeClusterOperation":
        types = ["CLUSTER"]
    if not operations or not types:
        return None
    # With Scala's named argument logIfDenied, the compiled call loads the constants twice.
    by_default = [word for word in plain if word.startswith("$DEFAULT")]
    is_quiet = "$DEFAULT$5" in by_default and "$DEFAULT$6" not in by_default
    is_quiet |= operations.count(operations[-1]) > 1 or plain[-3:] == ["1", "0", "$DEFAULT$7"]
    # Since 4.4 in Java: logIfAllowed, logIfDenied and, for a single check, its count.
    is_quiet |= not by_default and (plain[-3:] == ["1", "0", "1"] or plain[-2:] == ["1", "0"])
    return f"{operations[-1]} {types[-1]}{'~' if is_quiet else ''}"


def apis(method: str) -> tuple[str, ...]:
    plain = re.sub(r"\$?\$anonfun\$|\$adapted|^lambda\$", "", method)
    plain = re.sub(r"\$\d+$", "", plain)
    for name in (plain, plain.rstrip("0123456789")):
        if name in ASKING_FOR:
            return ASKING_FOR[name]
    name = re.sub(r"Requests?$", "", plain.removeprefix("handle"))
    return (name,) if name in WIRE_NAMES else ()


def asked(jar: Path, *, is_kraft: bool) -> dict[str, set[str]]:
    """Return the checks of each API, by Kafka's name of the API."""
    found: dict[str, set[str]] = {}
    for name in CLASSES:
        for method, call, constants in calls(jar, name):
            for api in apis(method):
                decides = "ControllerApis" if is_kraft and api in FORWARDED else "KafkaApis"
                if name.endswith(("KafkaApis", "ControllerApis")) and not name.endswith(decides):
                    continue
                if text := question(call, constants):
                    found.setdefault(api, set()).add(text)
    return found


def main() -> None:
    before: dict[str, set[str]] = {}
    for jar in map(Path, sys.argv[1:]):
        major, minor = re.findall(r"\d+", jar.stem.partition("-")[2])[:2]
        now = asked(jar, is_kraft=int(major) >= 3)
        for api in sorted(before.keys() | now.keys()):
            if now.get(api, set()) != before.get(api, set()):
                questions = ", ".join(sorted(now.get(api, set()))) or "-"
                sys.stdout.write(f"{major}.{minor} {api}: {questions}\n")
        before = now


if __name__ == "__main__":
    main()
