"""What a corpus is to be like, and how small one may be."""

import json
from pathlib import Path

from wireloom.generate.corpus import SHARES, generate
from wireloom.generate.wish import MIN_FRAMES, Wish


def test_every_protocol_has_its_turn_in_the_smallest_corpus(tmp_path: Path) -> None:
    wish = Wish(frames=MIN_FRAMES, seed=1, damage=0.02, forged=0.01, sightings=5)
    generate(tmp_path, wish)
    told = [json.loads(line) for line in (tmp_path / "truth.jsonl").read_text().splitlines()]
    assert {one["protocol"] for one in told} == set(SHARES)
