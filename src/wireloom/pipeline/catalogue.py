"""All tables, in the order in which a run writes them; then those that no run writes."""

from wireloom.pipeline import frame_tables
from wireloom.pipeline.derived import DERIVED
from wireloom.pipeline.judged_tables import KEYS, VERDICTS
from wireloom.pipeline.run import RUNS
from wireloom.pipeline.simulations import SIMULATIONS
from wireloom.pipeline.tables import Table


def all_tables() -> list[Table]:
    """Every table's declaration."""
    analysed = [one.table for one in DERIVED]
    return [*frame_tables.ingested(), KEYS, VERDICTS, *analysed, RUNS, SIMULATIONS]
