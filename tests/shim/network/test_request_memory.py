"""Memory for large requests: which requests wait, continue, or lose their connection."""

from kafka_shim.shim.network.resource_limits import ArrivingRequestMemory, RequestMemory


class Peer:
    def __init__(self, memory: RequestMemory) -> None:
        self.request = ArrivingRequestMemory(memory, self)
        self.times_gone_on = 0

    def on_memory_available(self) -> None:
        self.times_gone_on += 1
        self.request.has_memory = True


def test_a_request_is_taken_while_any_memory_is_left() -> None:
    memory = RequestMemory(100_000)
    peers = [Peer(memory) for _ in range(4)]
    assert [peer.request.reserve(70_000, 0) for peer in peers] == [
        True,
        True,
        False,
        False,
    ]
    assert memory.bytes == 140_000
    peers[0].request.on_frame_complete()
    peers[0].request.on_responses_sent(0)
    assert [peer.times_gone_on for peer in peers] == [0, 0, 1, 0]
    for peer in peers:
        peer.request.release_memory(0)
    assert memory.bytes == 0


def test_a_second_large_request_waits_for_the_answer_to_the_first() -> None:
    memory = RequestMemory(1_000_000)
    request = Peer(memory).request
    assert request.reserve(70_000, 0)
    request.on_frame_complete()
    assert not request.reserve(80_000, 0)
    request.on_responses_sent(0)
    assert request.reserve(80_000, 0)
    assert memory.bytes == 80_000


def test_a_request_is_in_the_way_only_while_another_waits_for_its_memory() -> None:
    memory = RequestMemory(100_000)
    slow, late = Peer(memory), Peer(memory)
    assert slow.request.reserve(100_000, 10)
    assert memory.oldest_blocking_reader(before_ms=50) is None
    assert not late.request.reserve(100_000, 20)
    assert memory.oldest_blocking_reader(before_ms=10) is None
    assert memory.oldest_blocking_reader(before_ms=11) is slow
    slow.request.release_memory(30)
    assert late.times_gone_on == 1
    assert memory.oldest_blocking_reader(before_ms=99) is None
