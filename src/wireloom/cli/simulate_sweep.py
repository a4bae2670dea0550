"""`wireloom simulate sweep`: many worlds of one scenario, on Spark."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

import click

from wireloom.cli.data import tables
from wireloom.cli.misuse import MisuseError
from wireloom.cli.pipeline import spark_options
from wireloom.cli.progress import ProgressLine
from wireloom.cli.simulate_play import lengths
from wireloom.cli.terminal import Grid, console, line
from wireloom.remote import AnyPath

if TYPE_CHECKING:
    from wireloom.pipeline.sharing import Place
    from wireloom.sim.sweep import Sweep

MAX_ROWS: Final = 20
"""Of so many combinations the summary tells; the table has all."""

Row = Mapping[str, Any]


@click.command("sweep")
@click.argument("scenario", type=click.Path(path_type=Path, dir_okay=False))
@click.option(
    "--seeds",
    type=click.IntRange(min=1),
    default=100,
    show_default=True,
    help="Play each combination of values with the seeds from 1 to this.",
)
@click.option("--seconds", type=click.FloatRange(min=1), help="How long each takes, in its time.")
@click.option(
    "--set",
    "changes",
    multiple=True,
    metavar="PATH=VALUE,…",
    help="Values of something in it, like links.loss=0,0.1,0.2; repeatable.",
)
@click.option(
    "--picture",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Draw delivery and latency over the values, as SVG.  [default: SCENARIO.svg in --data]",
)
@spark_options
def sweep(
    scenario: Path, seeds: int, changes: tuple[str, ...], data: AnyPath, **options: Any
) -> None:
    """Play a scenario with many seeds, and with every combination of values, on Spark.

    The table `simulations` gets a row for each world, in place of the scenario's last sweep.

    Exit status: 0 if all holds in all worlds, 1 if something does not, 2 for misuse.
    """
    import pyspark  # noqa: F401 - what is missing is named before anything is done

    from wireloom.sim.invariants import SENTENCES
    from wireloom.sim.scenario import ScenarioError
    from wireloom.sim.sweep import swept

    picture = _picture(options["picture"], data, scenario)
    try:
        planned = swept(scenario, (*changes, *lengths(options["seconds"], None)), seeds)
    except ScenarioError as error:
        raise MisuseError(f"{error}.") from None
    begun = monotonic()
    rows = _played(planned, data, options)
    _summarise(planned, rows, monotonic() - begun)
    broken = [row for row in rows if row["broken"] is not None]
    if broken:
        _tell(scenario, broken)
    else:
        console().print(line(f"All {len(SENTENCES)} invariants hold in all worlds."))
    if picture is not None:
        _draw(picture, rows)
    raise SystemExit(1 if broken else 0)


def _picture(wanted: Path | None, data: AnyPath, scenario: Path) -> Path | None:
    """Where the picture is drawn; nowhere by default if the tables are on object storage."""
    if wanted is None:
        return data / f"{scenario.stem}.svg" if isinstance(data, Path) else None
    if not wanted.absolute().parent.is_dir():
        raise MisuseError(f"{wanted.parent} is no folder. Make it first, or name another.")
    return wanted


def _played(planned: "Sweep", data: AnyPath, options: Mapping[str, Any]) -> list[Row]:
    """Plays all worlds, and stores and gives their rows."""
    from wireloom.cli.faults import explained
    from wireloom.cli.spark import started
    from wireloom.pipeline import simulations
    from wireloom.pipeline.alone import alone
    from wireloom.pipeline.store import TableStore

    store = TableStore(options["root"] or str(tables(data).absolute()))
    with (
        ProgressLine() as shown,
        explained(store),
        alone(store),
        started(options["master"], options["conf"], shown) as spark,
    ):
        shown.stage(f"playing {planned.worlds:,} worlds")
        rows = simulations.sweep(
            spark,
            store,
            planned.play,
            planned.worlds,
            needs=needed(planned),
            played=lambda done: shown.counted("playing", done, planned.worlds),
        )
    found: list[Row] = rows.to_pylist()
    return found


def needed(planned: "Sweep") -> "list[Place]":
    """The folders that worlds read: those of contacts."""
    from wireloom.pipeline.sharing import Place
    from wireloom.roots import Root

    mobilities = [one.scenario.mobility for one in planned.combinations]
    folders = {str(Path(one.contacts).parent) for one in mobilities if one and one.contacts}
    return [Place("contacts", Root(folder), is_written=False) for folder in sorted(folders)]


def _summarise(planned: "Sweep", rows: Sequence[Row], took: float) -> None:
    shown = console()
    frames = sum(row["frames"] for row in rows)
    shown.print(line(planned.combinations[0].scenario.about), soft_wrap=True)
    shown.print(
        line(
            f"{len(rows):,} worlds: {_number(len(planned.combinations), 'combination')}, "
            f"{_number(planned.seeds, 'seed')}; {frames:,} frames in {took:.1f} s"
        )
    )
    _grid(planned, rows).draw(shown)
    if len(planned.combinations) > MAX_ROWS:
        more = len(planned.combinations) - MAX_ROWS
        shown.print(line(f"… and {more:,} combinations more: the table simulations has them"))


def _number(count: int, what: str) -> str:
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"


def _grid(planned: "Sweep", rows: Sequence[Row]) -> Grid:
    """A row for each combination."""
    from wireloom.report.simulations import paths, summary
    from wireloom.report.times import spoken

    named = list(paths(rows))
    numbers = ("worlds", "broken", "delivered", "p50", "p99")
    grid = Grid(*named, *numbers, right=numbers)
    for place, combination in enumerate(planned.combinations[:MAX_ROWS]):
        begin = place * planned.seeds
        one = summary(rows[begin : begin + planned.seeds])
        ratio = "–" if one.ratio is None else f"{one.ratio:.1%}"
        times = ["–" if ms is None else spoken(ms) for ms in (one.p50_ms, one.p99_ms)]
        values = [combination.parameters[path] for path in named]
        grid.add(*values, f"{one.worlds:,}", f"{one.broken:,}", ratio, *times)
    return grid


def _draw(path: Path, rows: Sequence[Row]) -> None:
    from wireloom.report.simulations import picture

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(picture(rows), encoding="utf-8")
    except OSError as error:
        raise click.ClickException(f"{path} cannot be written: {error.strerror}.") from None
    console().print(line(f"Picture: {path}"), soft_wrap=True)


def _tell(scenario: Path, broken: Sequence[Row]) -> None:
    """How many worlds broke, how the first one did, and what plays it again."""
    from wireloom.sim.invariants import SENTENCES
    from wireloom.sim.told import replay

    shown = console()
    first = broken[0]
    changes = tuple(f"{path}={value}" for path, value in dict(first["parameters"]).items())
    name = first["broken"]
    shown.print(line(f"Broken: {_number(len(broken), 'world')}. The first:"))
    shown.print(line(f"{name}: {SENTENCES[name]}"), soft_wrap=True)
    shown.print(line(f"  {first['words']}"), soft_wrap=True)
    again = replay(str(scenario), first["seed"], changes)
    shown.print(line(f"Play it again: {again}"), soft_wrap=True)
