"""Small scenarios for tests."""

from typing import Any

from wireloom.sim.play import Play, Result
from wireloom.sim.scenario import Scenario, scenario_of

SEEDS = 200
"""Within so many seeds whatever is broken on purpose is found."""


def hub(**changes: Any) -> Scenario:
    """A hub that dies, with actors that come and go."""
    kinds: dict[str, float] = {"send": 3, "tell": 1, "publish": 1}
    return _scenario("hub", "hub-client", kinds, **changes)


def broker(**changes: Any) -> Scenario:
    """A broker that dies, with agents that come and go."""
    return _scenario("broker", "agent", {"report": 3, "send": 1, "everybody": 1}, **changes)


def swarm(**changes: Any) -> Scenario:
    """A swarm whose peers die, on links that lose datagrams; one of them joins late."""
    limits = {"epoch_ms": 1_000, "known": 2, **changes.pop("limits", {})}
    traffic = {"rate": 0.03, "ttl_seconds": changes.pop("ttl_seconds", 300)}
    traffic["size"] = changes.pop("size", 100)
    peer = {"role": "peer", "disk_ms": 2, "limits": limits, "traffic": traffic}
    return scenario_of(
        {
            "about": "A test.",
            "seconds": 110,
            "calm_seconds": 50,
            "cast": {"peer": {**peer, "count": 4}, "late": {**peer, "joins_seconds": 40}},
            "links": {"delay_ms": 10, "jitter_ms": 5, "loss": 0.1, "duplication": 0.05},
            "faults": {
                "die": {"kind": "crash", "who": "peer", "every_seconds": 10, "for_seconds": 5},
            },
            **changes,
        }
    )


def _scenario(server: str, client: str, kinds: dict[str, float], **changes: Any) -> Scenario:
    limits = changes.pop("limits", {})
    ttl = changes.pop("ttl_seconds", 100)
    return scenario_of(
        {
            "about": "A test.",
            "seconds": 110,
            "calm_seconds": 50,
            "cast": {
                "server": {"role": server, "disk_ms": 2, "limits": limits},
                "client": {
                    "role": client,
                    "count": 4,
                    "traffic": {"rate": 1, "ttl_seconds": ttl, "kinds": kinds},
                },
            },
            "links": {"delay_ms": 10, "jitter_ms": 5},
            "faults": {
                "away": {"kind": "crash", "who": "client", "every_seconds": 5, "for_seconds": 10},
                "down": {"kind": "crash", "who": "server", "every_seconds": 20, "for_seconds": 2},
            },
            **changes,
        }
    )


def found(scenario: Scenario, seeds: int = SEEDS) -> Result | None:
    """The first play of a scenario in which something does not hold."""
    plays = (Play(scenario, seed).run() for seed in range(seeds))
    return next((result for result in plays if result.broken), None)
