"""What a serving process sets for itself."""

import re
import subprocess
import sys

import pytest

from protocols.signalhub.samples import SAMPLES
from wireloom.protocols.signalhub import codec


def test_a_process_takes_all_the_files_it_may_have() -> None:
    script = (
        "import gc, resource\n"
        "_, most = resource.getrlimit(resource.RLIMIT_NOFILE)\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (100, most))\n"
        "from wireloom.live.process import GC_THRESHOLDS, prepare\n"
        "prepare()\n"
        "assert resource.getrlimit(resource.RLIMIT_NOFILE) == (most, most)\n"
        "assert gc.get_threshold() == GC_THRESHOLDS\n"
        "assert gc.get_freeze_count() > 0\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


@pytest.mark.parametrize(("digits", "answer"), [(640, "Send"), (641, "MalformedError")])
def test_a_serving_process_takes_integers_of_so_many_digits(digits: int, answer: str) -> None:
    script = (
        "import sys\n"
        "from wireloom.live.process import prepare\n"
        "from wireloom.protocols.signalhub import codec\n"
        "from wireloom.wire.errors import WireError\n"
        "prepare()\n"
        "try:\n"
        "    print(type(codec.decode(sys.stdin.buffer.read())).__name__)\n"
        "except WireError as error:\n"
        "    print(type(error).__name__)\n"
    )
    whole = codec.encode(SAMPLES["hub:send"])
    raw = re.sub(rb'"payload":\{"task.*?\}', b'"payload":[' + b"9" * digits + b"]", whole)
    done = subprocess.run(
        [sys.executable, "-c", script], input=raw, capture_output=True, check=True
    )
    assert done.stdout.decode().strip() == answer


def test_a_process_leaves_without_waiting_for_anything() -> None:
    script = (
        "import atexit, threading\n"
        "from wireloom.live.process import leave\n"
        "atexit.register(print, 'waited')\n"
        "threading.Thread(target=threading.Event().wait).start()\n"
        "print('said')\n"
        "leave()\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    assert done.stdout == b"said\n"
