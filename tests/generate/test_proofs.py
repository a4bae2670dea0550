import multiprocessing
import signal
from pathlib import Path
from threading import Event, Thread

import pytest

from wireloom.generate.proofs import FEW, _deaf, proven, prover
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


def test_ctrl_c_is_not_for_the_processes_that_search() -> None:
    with prover(FEW + 1) as together:
        together([DRAFT, DRAFT], [0, 1 << 40])
        searching = multiprocessing.active_children()
        masks = [Path(f"/proc/{one.pid}/status").read_text() for one in searching]
    assert searching
    for mask in masks:
        (blocked,) = [line.split()[1] for line in mask.splitlines() if line.startswith("SigBlk:")]
        assert int(blocked, 16) >> (signal.SIGINT - 1) & 1
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())


def test_an_interrupt_while_processes_start_waits_until_they_have() -> None:
    started, noted = Event(), Event()

    def interrupt() -> None:
        started.wait()
        signal.raise_signal(signal.SIGINT)
        noted.set()

    other = Thread(target=interrupt)  # before the mask, which it would inherit
    other.start()
    reached = []

    def start() -> None:
        with _deaf():
            started.set()
            noted.wait()
            reached.append("the end")

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # others may have changed it
    try:
        with pytest.raises(KeyboardInterrupt):
            start()
    finally:
        signal.signal(signal.SIGINT, before)
    other.join()
    assert reached == ["the end"]
