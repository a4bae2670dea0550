"""`wireloom simulate play`: a scenario with a seed, and whether all that must hold does."""

from contextlib import closing, nullcontext
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from wireloom.cli.data import DataPath, on_this_machine
from wireloom.cli.misuse import MisuseError
from wireloom.cli.terminal import console, line
from wireloom.remote import AnyPath
from wireloom.wire.visible import visible

if TYPE_CHECKING:
    from wireloom.sim.play import Play, Result
    from wireloom.sim.scenario import Scenario


@click.command("play")
@click.argument("scenario", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--seed", type=int, default=1, show_default=True, help="Seed of all chance in it.")
@click.option("--seconds", type=click.FloatRange(min=1), help="How long it takes, in its own time.")
@click.option("--hours", type=click.FloatRange(min=0, min_open=True), help="The same in hours.")
@click.option(
    "--set",
    "changes",
    multiple=True,
    metavar="PATH=VALUE",
    help="Change something in it, like links.loss=0.3; repeatable.",
)
@click.option(
    "--data",
    type=DataPath(),
    help="Write captures there, and the truth; none may be there. [default: nowhere]",
)
@click.option(
    "--shrink",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="If it fails, write the smallest scenario that fails in the same way.",
)
def play(
    scenario: Path, seed: int, changes: tuple[str, ...], data: AnyPath | None, **options: Any
) -> None:
    """Play a scenario in a simulated world, and check what must hold.

    The sessions are those that run on sockets; the network, the clocks and the disks are not.
    The same scenario and seed give the same frames, byte for byte.

    Exit status: 0 if all holds, 1 if something does not, 2 if there is no such scenario.
    """
    from wireloom.sim.scenario import ScenarioError, load

    sets = (*changes, *lengths(options["seconds"], options["hours"]))
    try:
        loaded = load(scenario, sets)
        played, result, took = _played(loaded, seed, data)
    except ScenarioError as error:
        raise MisuseError(f"{error}.") from None
    except OSError as error:
        raise click.ClickException(f"The captures cannot be written: {error}.") from None
    _summarise(loaded, result, took)
    if not result.broken:
        return
    _tell(played, result, str(scenario), sets)
    if options["shrink"]:
        _shrink(loaded, result, options["shrink"])
    raise SystemExit(1)


def lengths(seconds: float | None, hours: float | None) -> tuple[str, ...]:
    """The change that `--seconds` or `--hours` makes, if one is given.

    Raises:
        MisuseError: If both are.
    """
    if seconds and hours:
        raise MisuseError("Give --seconds or --hours, not both.")
    seconds = seconds or (hours or 0) * 3_600
    return (f"seconds={float(seconds)}",) if seconds else ()


def _played(scenario: "Scenario", seed: int, data: AnyPath | None) -> "tuple[Play, Result, float]":
    from wireloom.sim.play import Play

    if data is None:
        return _run(Play(scenario, seed), scenario)
    from wireloom.sim.captures import Captures
    from wireloom.sim.truth import save

    folder = on_this_machine(data)
    with closing(Captures(folder / "captures", seed)) as captures:
        play = Play(scenario, seed, tap=captures.tap, flush=captures.flush)
        played = _run(play, scenario)
    save(play, folder, captures.horizon_ms)
    return played


def _run(play: "Play", scenario: "Scenario") -> "tuple[Play, Result, float]":
    terminal = Console(stderr=True)
    columns = (TextColumn("playing"), BarColumn(), TimeRemainingColumn())
    bar = Progress(*columns, console=terminal, transient=True)
    begun = monotonic()
    with bar if terminal.is_terminal else nullcontext():
        task = bar.add_task("playing", total=scenario.seconds)
        result = play.run(lambda seconds: bar.update(task, completed=seconds))
    return play, result, monotonic() - begun


def _summarise(scenario: "Scenario", result: "Result", took: float) -> None:
    from wireloom.sim.invariants import SENTENCES

    shown = console()
    rate = result.frames / took if took else 0
    shown.print(line(scenario.about))
    shown.print(
        line(
            f"Seed {result.seed}: {result.seconds:,.0f} s of its time in {took:.1f} s; "
            f"{result.frames:,} frames, {result.lost:,} lost; {rate:,.0f} frames a second"
        )
    )
    if result.messages:
        shown.print(line(_delivery(result)))
    if result.troubles:
        told = ", ".join(f"{name} {count}" for name, count in result.troubles.items())
        shown.print(line(f"What went wrong: {told}"))
    shown.print(line(f"Fingerprint {result.fingerprint}"))
    if not result.broken:
        shown.print(line(f"All {len(SENTENCES)} invariants hold."))


def _delivery(result: "Result") -> str:
    share = 100 * result.delivered / result.messages
    text = f"{result.messages:,} messages, {result.delivered:,} delivered ({share:.1f} %)"
    return text if result.latency_ms is None else f"{text}; half within {result.latency_ms:,.0f} ms"


def _tell(play: "Play", result: "Result", scenario: str, changes: tuple[str, ...]) -> None:
    from wireloom.sim.told import replay, transcript

    shown = console()
    protocols = {part.name: part.PROTOCOL for part in play.parts}
    for text in transcript(result.broken[0], play.begun_ns, protocols):
        shown.print(line(text), soft_wrap=True)
    if len(result.broken) > 1:
        shown.print(line(f"… and {len(result.broken) - 1} more at the same time or soon after"))
    shown.print(line(f"Play it again: {replay(scenario, result.seed, changes)}"), soft_wrap=True)


def _shrink(scenario: "Scenario", result: "Result", path: Path) -> None:
    from wireloom.sim.scenario import text_of
    from wireloom.sim.shrink import shrunk

    smallest = shrunk(scenario, result.seed, result.broken[0].invariant)
    try:
        path.write_text(text_of(smallest))
    except OSError as error:
        raise click.ClickException(f"{path} cannot be written: {error.strerror}.") from None
    shown = visible(str(path))
    click.echo(f"Smaller: wireloom simulate {shown} --seed {result.seed}")
