"""What to do about the wrong one of `ws` and `wss`, on real sockets."""

import os
from pathlib import Path

import pytest

from live.certificates import Authority
from live.clients.processes import Process, free_port, run, serving
from wireloom.live.clients.cthun import CthunClient
from wireloom.live.clients.errors import HandshakeError
from wireloom.live.clients.hub import HubClient
from wireloom.live.clients.schemes import better_scheme
from wireloom.live.clients.tuning import Tuning

QUICK = Tuning(dial_seconds=0.5)


def test_a_port_that_speaks_the_other_scheme_says_so(tmp_path: Path) -> None:
    certificate, key = Authority(tmp_path / "tls").issue("server")
    env = {
        **os.environ,
        "WIRELOOM_SIGNALHUB_TLS_CERTIFICATE": str(certificate),
        "WIRELOOM_SIGNALHUB_TLS_KEY": str(key),
    }

    async def main(process: Process) -> None:
        plain, secured = process.hub.replace("wss:", "ws:"), process.broker.replace("ws:", "wss:")
        with pytest.raises(HandshakeError, match="the port speaks TLS: use wss://"):
            await HubClient(plain, "@(a/b)", tuning=QUICK).open()
        with pytest.raises(HandshakeError, match="the port does not speak TLS: use ws://"):
            await CthunClient(secured, "cth://a/b", tuning=QUICK).open()
        assert await better_scheme(process.hub) is None
        assert await better_scheme(process.broker) is None

    with serving(tmp_path, env=env) as process:
        run(main(process))


def test_where_nobody_is_there_is_no_other_scheme() -> None:
    async def main() -> None:
        for scheme in ("ws", "wss", "http"):
            assert await better_scheme(f"{scheme}://127.0.0.1:{free_port()}/") is None
        assert await better_scheme("ws:///hub") is None

    run(main())
