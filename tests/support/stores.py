"""Object storage on this machine: moto's server, which speaks S3, in a process of its own."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final
from uuid import uuid4

import pytest
from pyarrow.fs import S3FileSystem

KEY: Final = "wireloom-test"
SECRET: Final = "of no worth"
REGION: Final = "us-east-1"
_SCRIPT: Final = """
import sys
from moto.moto_server.threaded_moto_server import ThreadedMotoServer
server = ThreadedMotoServer("127.0.0.1", int(sys.argv[1]), verbose=False)
server.start()
print("ready", flush=True)
sys.stdin.read()
"""


@contextmanager
def serving(folder: Path) -> Iterator[int]:
    """An S3 server; gives its port."""
    with socket.create_server(("127.0.0.1", 0)) as found:
        port = int(found.getsockname()[1])
    with (
        (folder / "moto.log").open("wb") as log,
        subprocess.Popen(
            [sys.executable, "-c", _SCRIPT, str(port)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            env={**os.environ, "MOTO_S3_CUSTOM_ENDPOINTS": f"http://127.0.0.1:{port}"},
        ) as server,
    ):
        assert server.stdout is not None
        assert server.stdout.readline() == b"ready\n", (folder / "moto.log").read_text()
        _await_answer(port)
        yield port
        server.kill()


def _await_answer(port: int) -> None:
    for _ in range(200):
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise TimeoutError("the S3 server does not answer")


def made_bucket(port: int) -> str:
    """A new bucket on a server; gives its name."""
    name = f"bucket-{uuid4().hex[:12]}"
    disk = S3FileSystem(
        access_key=KEY,
        secret_key=SECRET,
        region=REGION,
        scheme="http",
        endpoint_override=f"127.0.0.1:{port}",
        allow_bucket_creation=True,
    )
    disk.create_dir(name)
    return name


def point_to(patched: pytest.MonkeyPatch, port: int, *, attempts: int = 2) -> None:
    """Has whatever reaches S3 in this process, and in those it starts, reach a port."""
    for name, value in {
        "AWS_ACCESS_KEY_ID": KEY,
        "AWS_SECRET_ACCESS_KEY": SECRET,
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
        "AWS_REGION": REGION,
        "AWS_MAX_ATTEMPTS": str(attempts),
        "AWS_EC2_METADATA_DISABLED": "true",
    }.items():
        patched.setenv(name, value)
    for name in ("AWS_SESSION_TOKEN", "AWS_PROFILE", "AWS_DEFAULT_REGION"):
        patched.delenv(name, raising=False)
