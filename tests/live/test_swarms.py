"""Swarms on real sockets: peers in one process, and then in five that are killed."""

from collections.abc import Awaitable, Callable
from pathlib import Path

from live.parts import captured, until
from live.peers import EPOCH_MS, Node, play
from wireloom.protocols.uep12.peer.requests import Post, Posted


def test_peers_flood_and_a_late_one_joins(tmp_path: Path) -> None:
    async def test(add: Callable[..., Awaitable[Node]]) -> None:
        ada = await add()
        bob = await add(ada)
        cid = await add(bob)
        await until(lambda: bob.count("proven_peers") == 2)
        for number in range(3):
            ada.driver.request(Post(id=f"{number}", payload=b"%d" % number, ttl_epoch=10))
        large = b"x" * 4_000
        cid.driver.request(Post(id="large", payload=large, ttl_epoch=10))
        everyone = [ada, bob, cid]
        await until(lambda: all(node.count("total") == 4 for node in everyone), 30)
        assert sum(isinstance(item, Posted) for item in ada.items) == 3
        late = await add(cid)
        await until(lambda: late.count("total") == 4)
        await until(lambda: late.count("synced"))
        assert all(node.count("missing") == 0 for node in (*everyone, late))

    play(test, tmp_path)
    for folder in tmp_path.iterdir():
        frames = captured(folder / "captures")
        assert {(frame.swarm, frame.epoch_ms) for frame in frames} == {("tea", EPOCH_MS)}
        assert all(frame.outcome for frame in frames if frame.direction == "in")
