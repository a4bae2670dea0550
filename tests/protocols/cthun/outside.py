"""The vectors that check a part of Cthun, not the decoding of a frame."""

import pytest

from support.cases import vectors


def checks(kind: str) -> pytest.MarkDecorator:
    """Runs a test with every vector of one kind."""
    chosen = [vector for vector in vectors("cthun") if vector.get("check") == kind]
    assert chosen
    return pytest.mark.parametrize("vector", chosen, ids=lambda vector: vector["name"])
