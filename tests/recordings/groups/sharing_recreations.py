"""Sessions of share groups when a topic is deleted, and created again under its name."""

from typing import Any

from kafka_shim.protocol.enums import ApiKey
from tests.recordings.groups.modern_play import ModernPlay
from tests.recordings.groups.share_play import (
    ACCEPT,
    RELEASE,
    Sharer,
    earliest,
    kept_topics,
    produce,
    serves,
    state,
)

UNEXPECTED = -1


class PersistentSharer(Sharer):
    """A request that fails as a whole uses up an epoch of the session, and the member goes on."""

    def _call(self, label: str, api: ApiKey, version: int, request: dict[str, Any]) -> Any:
        response = super()._call(label, api, version, request)
        if response.error_code == UNEXPECTED and request["share_session_epoch"] == self.epoch > 0:
            self.epoch += 1
        return response


def deleted_topics(play: ModernPlay) -> None:
    """A session fetches while its topic is gone, and after another one has its name."""
    if not serves(play):
        return
    sharer, topic, stays = _begun(play)
    gone = _delete(play, topic)
    sharer.fetch("deleted")
    sharer.fetch("deleted, again")
    sharer.acknowledge("accepted, deleted", {(stays, 0): [(0, 0, [ACCEPT])]})
    sharer.acknowledge("released, deleted", {(gone, 0): [(0, 0, [RELEASE])]})
    produce(play, stays, 1)
    sharer.fetch("something new of another topic")
    sharer.fetch("nothing new")
    _create(play, topic)
    sharer.fetch("created again")
    sharer.fetch("created again, again")
    _new_beside_old(play, sharer, topic, gone)


def recreated_topics(play: ModernPlay) -> None:
    """A session fetches only after another topic has the name of one of its topics."""
    if not serves(play):
        return
    sharer, topic, stays = _begun(play)
    gone = _delete(play, topic)
    _create(play, topic)
    sharer.fetch("created again")
    sharer.fetch("created again, again")
    sharer.fetch("accepted on the way", acks={(stays, 0): [(0, 0, [ACCEPT])]})
    _new_beside_old(play, sharer, topic, gone)


def recreated_and_begun_again(play: ModernPlay) -> None:
    """A session that begins again names the deleted topic, or the new one."""
    if not serves(play):
        return
    sharer, topic, stays = _begun(play)
    gone = _delete(play, topic)
    _create(play, topic)
    sharer.join(topic, stays)
    sharer.fetch("begun with the old one", (gone, 0), (stays, 0), share_session_epoch=0)
    sharer.epoch = 0
    sharer.fetch("begun with the new one", (topic, 0), (stays, 0))
    sharer.fetch("goes on")
    sharer.fetch("ends", share_session_epoch=-1)


def _begun(play: ModernPlay) -> tuple[Sharer, str, str]:
    """A session of two topics, whose records are acquired."""
    topic, stays = kept_topics(play, "t", "u", partitions=1)
    sharer = PersistentSharer(play, earliest(play)).join(topic, stays)
    sharer.fetch("nothing there", (topic, 0), (stays, 0))
    sharer.fetch("still nothing there")  # by now both are loaded
    for name in (topic, stays):
        produce(play, name, 2)
    sharer.fetch("acquired")
    return sharer, topic, stays


def _delete(play: ModernPlay, topic: str) -> str:
    """Delete a topic; return the name by which its id is known from then on."""
    play.delete_topic(topic)
    gone = f"{topic}-gone"
    play.topic_ids[gone] = play.topic_ids.pop(topic)
    return gone


def _create(play: ModernPlay, topic: str) -> None:
    kept_topics(play, topic.removeprefix(play.text("-")), partitions=1)


def _new_beside_old(play: ModernPlay, sharer: Sharer, topic: str, gone: str) -> None:
    """The session also fetches the new topic, then no longer the old one."""
    stays = play.text("-u")
    sharer.join(topic, stays)
    sharer.fetch("new beside old", (topic, 0))
    sharer.fetch("new beside old, again")
    produce(play, topic, 3)
    sharer.fetch("something new")
    sharer.acknowledge("accepted, new", {(topic, 0): [(0, 0, [ACCEPT])]})
    sharer.acknowledge("accepted, old", {(gone, 0): [(0, 0, [ACCEPT])]})
    sharer.fetch("old forgotten", forgotten=[(gone, 0)])
    sharer.fetch("without the old")
    state(play, "new", sharer.group, topic)
    sharer.fetch("ends", share_session_epoch=-1)
