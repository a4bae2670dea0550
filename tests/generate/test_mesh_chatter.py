from generate.rehearsal import NOON_US, Rehearsal
from wireloom.generate.mesh import Mesh
from wireloom.generate.mesh_chatter import Chatter
from wireloom.protocols.myriadmesh.codec import decode
from wireloom.protocols.myriadmesh.integrity import authenticate, block_hash
from wireloom.protocols.myriadmesh.messages import Discovery, LedgerBlock
from wireloom.wire.outcome import Auth, Outcome, Reason


def chatter() -> tuple[Chatter, Mesh, Rehearsal]:
    rehearsal = Rehearsal("myriadmesh")
    mesh = Mesh(rehearsal.scene, 5)
    return Chatter(mesh), mesh, rehearsal


def test_every_node_introduces_itself_with_a_key_that_holds() -> None:
    talk, mesh, rehearsal = chatter()
    talk.introduce(NOON_US)
    keys = set()
    for frame in rehearsal.frames:
        message = decode(frame.raw)
        assert authenticate(message, frame.raw, ()) is Auth.VALID
        payload = getattr(message, "payload", None)
        assert isinstance(payload, Discovery)
        keys.add(payload.public_key)
    assert keys == {node.key.public for node in mesh.nodes}


def test_blocks_form_a_chain_with_a_fork_and_an_orphan() -> None:
    talk, _, rehearsal = chatter()
    for step, say in enumerate((talk.block, talk.block, talk.fork, talk.orphan)):
        say(NOON_US + step * 60_000_000)
    blocks: list[LedgerBlock] = []
    for message in rehearsal.messages():
        if message.payload not in blocks:
            blocks.append(message.payload)
    first, second, fork, orphan = blocks
    assert second.previous_hash == fork.previous_hash == block_hash(first)
    assert second.block_height == fork.block_height
    assert orphan.previous_hash not in [block_hash(block) for block in blocks]


def test_a_stale_heartbeat_is_refused_as_such() -> None:
    talk, _, rehearsal = chatter()
    talk.stale_heartbeat(NOON_US)
    last = rehearsal.frames[-1]
    assert (last.outcome, last.reason) == (Outcome.REJECTED, Reason.STALE)
    assert rehearsal.messages()[-1].timestamp < NOON_US // 1000 - 300_000


def test_small_talk_has_no_fate_and_every_type_occurs() -> None:
    talk, _, rehearsal = chatter()
    for _, say in talk.kinds():
        say(NOON_US)
    assert not rehearsal.rows
    assert len(rehearsal.types()) == 12
