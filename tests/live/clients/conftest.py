"""One server process for all tests that need no server of their own."""

from collections.abc import Iterator

import pytest

from live.clients.processes import Process, serving


@pytest.fixture(scope="package")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Process]:
    with serving(tmp_path_factory.mktemp("server")) as process:
        yield process
