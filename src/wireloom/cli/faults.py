"""What can go wrong with the tables while a pipeline works, in one sentence for a person."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from wireloom.wire.visible import visible

if TYPE_CHECKING:
    from wireloom.pipeline.store import TableStore


@contextmanager
def explained(store: "TableStore") -> Iterator[None]:
    """Tells a person why a pipeline cannot go on, and what to do.

    Raises:
        ClickException: In place of what is known to go wrong; all else is raised as it is.
    """
    from deltalake.exceptions import CommitFailedError, DeltaError

    from wireloom.pipeline.alone import BusyError
    from wireloom.pipeline.sharing import WorkersError
    from wireloom.pipeline.taken import OutdatedError
    from wireloom.pipeline.upkeep import missing
    from wireloom.remote import UnreachableError

    try:
        yield
    except (BusyError, OutdatedError, UnreachableError, WorkersError) as error:
        raise click.ClickException(f"{visible(str(error)).rstrip('.')}.") from None
    except CommitFailedError:
        raise click.ClickException(
            f"another pipeline has written the tables in {store.root} meanwhile: "
            "let one of them work at a time, and run again."
        ) from None
    except click.ClickException:
        raise
    except Exception as error:
        gone = missing(store)
        if gone is not None:
            raise click.ClickException(
                f"{gone.table} lacks a file that it should have, {gone.path}: delete the folder "
                f"{store.root}/{gone.table} and run again. It is made anew{_out_of(gone.table)}."
            ) from None
        if store.files.is_remote and isinstance(error, OSError | DeltaError):
            raise click.ClickException(f"{visible(str(error))}.") from None
        raise


def _out_of(table: str) -> str:
    """What a table is made anew from, if that is not in the other tables."""
    from wireloom.pipeline import frame_tables

    is_ingested = table in {one.name for one in frame_tables.ingested()}
    return " from the captures, as far as they are still there" if is_ingested else ""
