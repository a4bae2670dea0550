from wireloom.generate.proofs import FEW, proven, prover
from wireloom.protocols.uep12.codec import encode
from wireloom.protocols.uep12.integrity import is_proof, work
from wireloom.protocols.uep12.messages import Content

DRAFT = Content(pow_nonce=0, timestamp=1, ttl_epoch=1, payload=b"x")


def test_a_proof_holds_and_is_the_first_from_its_start() -> None:
    made = proven(DRAFT, 1000)
    assert is_proof(work(encode(made)))
    assert made.pow_nonce >= 1000
    assert proven(DRAFT, made.pow_nonce) == made


def test_one_core_and_all_cores_find_the_same_proofs() -> None:
    with prover(FEW) as alone:
        few = alone([DRAFT, DRAFT], [0, 1 << 40])
    with prover(FEW + 1) as together:
        assert together([DRAFT, DRAFT], [0, 1 << 40]) == few
