"""How Kafka releases differ in authorization: errors, log lines, settings."""

import msgspec

from kafka_shim.protocol.releases.change import Change


class AccessFacts(msgspec.Struct, frozen=True, kw_only=True):
    """Facts of a release about authorization."""

    # responses
    denied_topics_are_unknown: bool = True
    """A topic without DESCRIBE is unknown (3); existence is checked first."""
    unrequested_operations_value: int = 0  # value of authorized operations that were not requested
    acl_request_ok_message: str | None = None
    """Error message of a successful CreateAcls or DescribeAcls."""
    unexpected_acl_error_has_message: bool = True
    """CreateAcls has an error message for UNKNOWN_SERVER_ERROR (-1), too."""
    # the audit log
    audit_line_has_pattern_type: bool = False  # the audit line has the pattern type of the resource
    audit_line_has_api_name: bool = False  # the audit line has the API
    audit_line_has_deciding_rule: bool = False  # the audit line ends in the deciding rule
    audit_line_acl_brackets: str = "()"  # brackets around an ACL that is the rule
    list_config_resources_name: str = "ListClientMetricsResources"
    """The name of the API in audit lines."""
    produce_checks_partitions: bool = False
    """The audit line of Produce counts the partitions of a topic (False: its entries)."""
    # configuration
    signed_tokens_require_issuer_and_audience: bool = False
    """Signed tokens: an issuer and an audience must be configured, or waived."""
    default_authorizer_class: str = "kafka.security.auth.SimpleAclAuthorizer"
    """Class of the release's authorizer, for authorizer.class.name."""


CHANGES: tuple[Change, ...] = (
    Change(
        "1.0",
        "denied topics are TOPIC_AUTHORIZATION_FAILED (29) in all APIs",
        denied_topics_are_unknown=False,
    ),
    Change("2.0", "KIP-290: prefixed patterns", audit_line_has_pattern_type=True),
    Change(
        "2.4",
        "KIP-504: the authorizer implements the new Java interface",
        audit_line_has_api_name=True,
        default_authorizer_class="kafka.security.authorizer.AclAuthorizer",
    ),
    Change(
        "2.5",
        "KAFKA-9386: operations not requested are Int32.MIN",
        unrequested_operations_value=-(2**31),
    ),
    Change("2.5", "generated messages have an empty error message", acl_request_ok_message=""),
    Change("2.6", "unexpected errors have no message", unexpected_acl_error_has_message=False),
    Change(
        "3.0",
        "KRaft brokers run the StandardAuthorizer",
        audit_line_has_deciding_rule=True,
        default_authorizer_class="org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    ),
    Change(
        "4.1",
        "KIP-1142: ListConfigResources; KIP-516: Produce by topic id",
        list_config_resources_name="ListConfigResources",
        produce_checks_partitions=True,
    ),
    Change("4.2", "StandardAcl is a Java record", audit_line_acl_brackets="[]"),
    Change(
        "4.4",
        "signed tokens of any origin must be permitted explicitly",
        signed_tokens_require_issuer_and_audience=True,
    ),
)
