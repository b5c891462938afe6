"""What one test uses: names nobody else has, topics, ACLs that are in force, and their removal."""

import time
import uuid
from collections.abc import Callable

from tests.clients.driver import Acl, ClientError, Driver

EVENTUALLY_SECONDS = 15
"""A broker learns of a new ACL or topic a moment after the controller has confirmed it."""


class Stage:
    """One test's corner of the broker; everything in it is named after `name`."""

    def __init__(self, driver: Driver) -> None:
        self.name = f"ct-{uuid.uuid4().hex[:12]}"
        self.principal = f"User:{self.name}"
        """Nobody logs in by it: a name to hang ACLs on that must not have any effect."""
        self._driver = driver
        self._topics: list[str] = []
        self._acls: set[Acl] = set()

    def topic(self, suffix: str = "topic") -> str:
        """A new topic of one partition that the broker already knows."""
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
        """An ACL for a user, from any host, that the broker applies when this returns."""
        principal = f"User:{user}"
        acl = Acl(resource_type, name, pattern_type, principal, "*", operation, permission)
        self.create(acl)
        return acl

    def create(self, *acls: Acl) -> None:
        """ACLs that the broker applies when this returns; they go away after the test."""
        self._acls.update(acls)  # first, so that what a failure leaves behind goes away too
        assert self._driver.create_acls(acls) == []
        self.adopt(*acls)

    def adopt(self, *acls: Acl) -> None:
        """The same for ACLs that the test itself has created."""
        self._acls.update(acls)
        for acl in acls:
            self.wait_for(acl, {acl})

    def wait_for(self, acl_filter: Acl, acls: set[Acl]) -> None:
        """Until exactly these ACLs are listed by the filter."""
        eventually(lambda: self._driver.list_acls(acl_filter) == acls)

    def clear(self) -> None:
        """Remove what the test left; things that it removed itself are no error."""
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
