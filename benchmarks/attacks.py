"""Replays attacks on our servers and says what each cost: memory, others' patience, disk.

usage: python benchmarks/attacks.py [WORD …]

The server has the first core; the attacker and the honest clients share the second, of which the
attacker gets what is left. With words, only attacks whose names contain one of them are replayed.
Ends with status 1 if anything is out of bounds.
"""

import sys
from multiprocessing import get_context
from time import monotonic, sleep
from typing import Final, NamedTuple

import numpy as np

from attack import on_broker, on_hub, on_links
from attack.attacks import Attack, perform
from attack.honest import Waits, newcomer, probe
from attack.victim import MIB, Victim, get, serving

ATTACKS: Final = (*on_hub.ATTACKS, *on_broker.ATTACKS, *on_links.ATTACKS)
MAX_SECONDS: Final = 45.0
"""An attack that is not over by then is ended; most of it is preparation."""

P99_MS: Final = 50.0
MEMORY_FACTOR: Final = 1.5
MAX_LOG: Final = MIB
_FORMAT: Final = "{:<54} {:>13} {:>7} {:>7} {:>7} {:>14}  {}"
_spawn: Final = get_context("spawn")


class Cost(NamedTuple):
    """What an attack cost."""

    memory: int
    """Bytes of memory at the peak, beyond what the idle server had."""

    written: int
    """Bytes written to disk."""

    logged: int
    waits: Waits
    newcomer: float
    faults: float

    @property
    def p99_ms(self) -> float:
        """What 99 of 100 honest requests waited at most."""
        return float(np.percentile(self.waits.seconds or [0.0], 99)) * 1e3

    @property
    def longest_ms(self) -> float:
        """What the unluckiest waited."""
        return max(self.waits.seconds, default=0.0) * 1e3

    def excesses(self, attack: Attack) -> list[str]:
        """What is out of bounds."""
        checks = {
            "memory": self.memory > MEMORY_FACTOR * attack.memory_mib * MIB,
            "disk": self.written > attack.disk_mib * MIB,
            "log": self.logged > MAX_LOG,
            "p99": self.p99_ms > P99_MS,
            "faults": self.faults > 0,
        }
        return [name for name, is_out in checks.items() if is_out] + self.waits.failures


def main() -> None:
    """Replays what was asked for."""
    words = sys.argv[1:]
    chosen = [one for one in ATTACKS if not words or any(word in one.name for word in words)]
    print(_FORMAT.format("attack", "memory MiB", "p99 ms", "max ms", "new ms", "disk MiB", ""))
    bad = 0
    for attack in chosen:
        cost = replay(attack)
        if cost is None:
            bad += 1
            print(f"{attack.name:<54} the server did not survive it", flush=True)
            continue
        excesses = cost.excesses(attack)
        bad += bool(excesses)
        print(row(attack, cost, excesses), flush=True)
    print(f"{len(chosen) - bad} passed, {bad} failed")
    sys.exit(1 if bad else 0)


def replay(attack: Attack) -> Cost | None:
    """Attacks a fresh server while honest clients use it; None if the server did not survive."""
    with serving(attack.settings, attack.max_files) as victim:
        memory, written = victim.memory, victim.written
        here, there = _spawn.Pipe()
        honest = _spawn.Process(target=probe, args=(victim, there))
        honest.start()
        here.recv()
        _attack(attack, victim)
        late = Waits([], [])
        new = newcomer(victim, late)
        here.send("enough")
        waits: Waits = here.recv()
        honest.join()
        if not victim.is_alive:
            return None
        waits.failures.extend(late.failures)
        return Cost(
            victim.peak_memory - memory,
            victim.written - written,
            victim.logged,
            waits,
            new,
            _faults(victim),
        )


def _attack(attack: Attack, victim: Victim) -> None:
    """Lets the attacker do its worst, for as long as it has."""
    attacker = _spawn.Process(target=perform, args=(attack, victim))
    attacker.start()
    end = monotonic() + MAX_SECONDS
    while attacker.is_alive() and victim.is_alive and monotonic() < end:
        sleep(0.02)
    attacker.terminate()
    attacker.join()
    sleep(1.0)


def _faults(victim: Victim) -> float:
    """How often something failed inside the server."""
    lines = get(victim.metrics, "/metrics")[1].splitlines()
    return sum(
        float(line.split()[-1]) for line in lines if line.startswith("wireloom_faults_total")
    )


def row(attack: Attack, cost: Cost, excesses: list[str]) -> str:
    """One attack in a line."""
    return _FORMAT.format(
        attack.name,
        f"{cost.memory / MIB:,.0f} of {attack.memory_mib}",
        f"{cost.p99_ms:.1f}",
        f"{cost.longest_ms:.0f}",
        f"{cost.newcomer * 1e3:.0f}",
        f"{cost.written / MIB:,.0f} of {attack.disk_mib:,}",
        "" if not excesses else "OUT OF BOUNDS: " + ", ".join(excesses),
    )


if __name__ == "__main__":
    main()
