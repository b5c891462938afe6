"""How Kafka releases differ in authorization: errors, log lines, settings."""

import msgspec

from kafka_shim.protocol.releases.change import Change


class AccessFacts(msgspec.Struct, frozen=True, kw_only=True):
    """Facts of a release about authorization."""

    # responses
    hides_denied_topics: bool  # a topic without DESCRIBE is unknown (3); existence is checked first
    unasked_operations: int  # value of authorized operations that were not requested
    acl_success_message: str | None  # error message of a successful CreateAcls or DescribeAcls
    unexpected_acl_errors_are_said: bool
    """CreateAcls has an error message for UNKNOWN_SERVER_ERROR (-1), too."""
    # the audit log
    audit_names_pattern: bool  # the audit line has the pattern type of the resource
    audit_names_request: bool  # the audit line has the API
    audit_names_rule: bool  # the audit line ends in the deciding rule
    audit_acl_brackets: str  # brackets around an ACL that is the rule
    # configuration
    tokens_need_origin: bool
    """Signed tokens: an issuer and an audience must be configured, or waived."""
    authorizer_class: str  # class of the release's authorizer, for authorizer.class.name


OLDEST = AccessFacts(
    hides_denied_topics=True,
    unasked_operations=0,
    acl_success_message=None,
    unexpected_acl_errors_are_said=True,
    audit_names_pattern=False,
    audit_names_request=False,
    audit_names_rule=False,
    audit_acl_brackets="()",
    tokens_need_origin=False,
    authorizer_class="kafka.security.auth.SimpleAclAuthorizer",
)
"""The facts of 0.11."""

CHANGES: tuple[Change, ...] = (
    Change("1.0", "denied topics are 29 everywhere", hides_denied_topics=False),
    Change("2.0", "KIP-290: prefixed patterns", audit_names_pattern=True),
    Change(
        "2.4",
        "KIP-504: the authorizer in Java's interface",
        audit_names_request=True,
        authorizer_class="kafka.security.authorizer.AclAuthorizer",
    ),
    Change("2.5", "KAFKA-9386: not asked is Int32.MIN", unasked_operations=-(2**31)),
    Change("2.5", "generated responses have an empty text", acl_success_message=""),
    Change("2.6", "unexpected errors have no text", unexpected_acl_errors_are_said=False),
    Change(
        "3.0",
        "KRaft brokers run the StandardAuthorizer",
        audit_names_rule=True,
        authorizer_class="org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    ),
    Change("4.2", "StandardAcl is a record of Java's", audit_acl_brackets="[]"),
    Change("4.4", "signed tokens of unknown origin need leave", tokens_need_origin=True),
)
