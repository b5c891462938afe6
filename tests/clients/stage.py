"""Unique names, topics and ACLs for one test, removed after it."""

import time
import uuid
from collections.abc import Callable

from tests.clients.driver import Acl, ClientError, Driver

EVENTUALLY_SECONDS = 15
"""A broker applies a new ACL or topic a moment after the controller has confirmed it."""


class Stage:
    """Topics, groups and ACLs of one test, whose names all begin with `name`."""

    def __init__(self, driver: Driver) -> None:
        self.name = f"ct-{uuid.uuid4().hex[:12]}"
        self.principal = f"User:{self.name}"
        """The principal of ACLs that must not have any effect; nobody logs in as this user."""
        self._driver = driver
        self._topics: list[str] = []
        self._acls: set[Acl] = set()

    def topic(self, suffix: str = "topic") -> str:
        """Create a topic of one partition, and wait until the broker has it."""
        topic = f"{self.name}-{suffix}"
        self._driver.create_topic(topic)
        self._topics.append(topic)
        eventually(lambda: self._driver.topic_operations(topic, None))
        return topic

    def group(self, suffix: str = "group") -> str:
        return f"{self.name}-{suffix}"

    def grant(
        self,
        user: str,
        operation: str,
        resource_type: str,
        name: str,
        *,
        pattern_type: str = "LITERAL",
        permission: str = "ALLOW",
    ) -> Acl:
        """Create an ACL for a user, from any host, and wait until the broker applies it."""
        principal = f"User:{user}"
        acl = Acl(resource_type, name, pattern_type, principal, "*", operation, permission)
        self.create(acl)
        return acl

    def create(self, *acls: Acl) -> None:
        """Create ACLs, and wait until the broker applies them; they are deleted after the test."""
        self._acls.update(acls)  # first, so that they are deleted even if this fails
        assert self._driver.create_acls(acls) == []
        self.adopt(*acls)

    def adopt(self, *acls: Acl) -> None:
        """Wait for ACLs that the test itself has created, and delete them after the test."""
        self._acls.update(acls)
        for acl in acls:
            self.wait_for(acl, {acl})

    def wait_for(self, acl_filter: Acl, acls: set[Acl]) -> None:
        """Wait until the filter lists exactly these ACLs."""
        eventually(lambda: self._driver.list_acls(acl_filter) == acls)

    def clear(self) -> None:
        """Delete what the test has created, unless the test has deleted it."""
        if self._acls:
            self._driver.delete_acls(list(self._acls))
            for acl in self._acls:
                self.wait_for(acl, set())
        for topic in self._topics:
            self._driver.delete_topic(topic)


def eventually(condition: Callable[[], object]) -> None:
    """Wait until `condition` holds; errors of the client count as "not yet"."""
    deadline = time.monotonic() + EVENTUALLY_SECONDS
    while True:
        try:
            if condition():
                return
            last: object = "the condition stayed false"
        except ClientError as error:
            last = error
        assert time.monotonic() < deadline, f"not within {EVENTUALLY_SECONDS} s: {last}"
        time.sleep(0.05)
