from typing import Any

from hypothesis import given, strategies as st

from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.authorizer.explaining.who_can import (
    AllowedPrincipal,
    DeniedPrincipal,
    WhoCanResult,
    who_can,
)
from kafka_shim.authorizer.model import ANY_USER, Acl, Action, Actor, DecisionReason
from kafka_shim.authorizer.store import AclStore
from kafka_shim.protocol.enums import Operation, PatternType, Permission, ResourceType

READ = Action(Operation.READ, ResourceType.TOPIC, "orders")
DENY = Permission.DENY


def acl(
    principal: str,
    permission: Permission = Permission.ALLOW,
    host: str = "*",
    operation: Operation = Operation.READ,
    name: str = "orders",
    pattern_type: PatternType = PatternType.LITERAL,
) -> Acl:
    return Acl(ResourceType.TOPIC, name, pattern_type, principal, host, operation, permission)


def ask(*acls: Acl, **settings: Any) -> WhoCanResult:
    return who_can(StandardAuthorizer(store=AclStore(acls), **settings), READ)


def right(principal: str, *acls: Acl, **more: Any) -> AllowedPrincipal:
    fields: dict[str, Any] = {
        "hosts": ("*",),
        "except_hosts": (),
        "because": DecisionReason.ACL,
        "exception_acls": (),
    }
    fields |= more
    return AllowedPrincipal(principal, acls=acls, **fields)


def test_nobody_is_allowed() -> None:
    assert ask() == WhoCanResult((), ())
    assert ask(acl("User:a", operation=Operation.DESCRIBE)) == WhoCanResult((), ())


def test_literal_and_prefixed_acls_are_both_listed() -> None:
    prefixed = acl("User:b", name="ord", pattern_type=PatternType.PREFIXED)
    assert ask(acl("User:a"), prefixed).allowed_principals == (
        right("User:a", acl("User:a")),
        right("User:b", prefixed),
    )


def test_a_denied_principal_is_listed_separately() -> None:
    deny = acl("User:a", DENY)
    assert ask(acl("User:a"), deny) == WhoCanResult((), (DeniedPrincipal("User:a", (deny,)),))
    assert ask(deny) == WhoCanResult((), ())


def test_everyone_is_listed_except_a_denied_principal() -> None:
    everyone, deny = acl(ANY_USER), acl("User:a", DENY, operation=Operation.ALL)
    response = ask(everyone, deny, acl("User:b"), acl("User:c", operation=Operation.WRITE))
    assert response.denied_principals == (DeniedPrincipal("User:a", (deny,)),)
    by_name = {found.principal: found for found in response.allowed_principals}
    assert set(by_name) == {"User:b", ANY_USER}  # WRITE of User:c does not allow READ
    assert by_name[ANY_USER] == right(ANY_USER, everyone)


def test_a_deny_for_everyone_beats_all() -> None:
    deny = acl(ANY_USER, DENY)
    response = ask(acl("User:a"), acl(ANY_USER), deny)
    assert response.allowed_principals == ()
    assert response.denied_principals == (
        DeniedPrincipal("User:a", (deny,)),
        DeniedPrincipal(ANY_USER, (deny,)),
    )


def test_hosts_are_listed_and_excluded() -> None:
    near, far = acl("User:a", host="10.0.0.1"), acl("User:a", host="10.0.0.2")
    assert ask(near, far).allowed_principals == (
        right("User:a", near, far, hosts=("10.0.0.1", "10.0.0.2")),
    )
    everywhere, deny = acl("User:a"), acl("User:a", DENY, host="10.0.0.1")
    assert ask(everywhere, deny).allowed_principals == (
        right("User:a", everywhere, except_hosts=("10.0.0.1",), exception_acls=(deny,)),
    )


def test_super_users_and_resources_without_acls_are_listed_with_the_reason() -> None:
    (root,) = ask(acl("User:*", DENY), super_users=("User:root",)).allowed_principals
    assert (root.principal, root.because) == ("User:root", DecisionReason.SUPER_USER)
    (everyone,) = ask(allow_everyone=True).allowed_principals
    assert (everyone.principal, everyone.because) == (ANY_USER, DecisionReason.DEFAULT_ALLOW)
    assert (
        ask(acl("User:a", operation=Operation.WRITE), allow_everyone=True).allowed_principals == ()
    )


PRINCIPALS = ("User:a", "User:b", "User:other")
HOSTS = ("10.0.0.1", "10.0.0.2", "10.0.0.3")
ACLS = st.lists(
    st.builds(
        acl,
        principal=st.sampled_from(["User:a", "User:b", ANY_USER]),
        permission=st.sampled_from([Permission.ALLOW, DENY]),
        host=st.sampled_from(["*", "10.0.0.1", "10.0.0.2"]),
        operation=st.sampled_from([Operation.READ, Operation.WRITE, Operation.ALL]),
        name=st.sampled_from(["orders", "o", "*"]),
        pattern_type=st.sampled_from([PatternType.LITERAL, PatternType.PREFIXED]),
    ),
    max_size=10,
    unique=True,
)


@given(ACLS, st.booleans())
def test_who_can_agrees_with_the_authorizer(acls: list[Acl], allow_everyone: bool) -> None:
    authorizer = StandardAuthorizer(store=AclStore(acls), allow_everyone=allow_everyone)
    response = who_can(authorizer, READ)
    refused = {refusal.principal for refusal in response.denied_principals}
    for principal in PRINCIPALS:
        for host in HOSTS:
            expected = authorizer.authorize(Actor(principal, host), READ).allowed
            assert claimed(response, principal, host) is expected, (principal, host)
            if expected:
                assert principal not in refused


def claimed(response: WhoCanResult, principal: str, host: str) -> bool:
    """Return whether the answer lists this principal as allowed from this host."""
    rights = {found.principal: found for found in response.allowed_principals}
    found = rights.get(principal)
    if found is None:
        if principal in {refusal.principal for refusal in response.denied_principals}:
            return False
        found = rights.get(ANY_USER)
    if found is None:
        return False
    return host in found.hosts or ("*" in found.hosts and host not in found.except_hosts)
