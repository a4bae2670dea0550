"""The cluster that the tests of this folder share."""

from collections.abc import Iterator

import pytest

from support.clusters import Cluster, cluster


@pytest.fixture(scope="package")
def standalone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A master and two workers."""
    with cluster(tmp_path_factory.mktemp("cluster")) as started:
        yield started
