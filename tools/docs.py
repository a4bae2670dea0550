"""Writes the generated parts of docs/: tables of fields, data and fates, commands, a picture.

usage: python tools/docs.py [--check]

With --check nothing is written; the exit status says whether the docs are up to date.
"""

import json
import os
import re
import sys
from enum import Enum, Flag
from pathlib import Path
from typing import Final

import click
from rich.console import Console

from fates import fate_tables
from limits import limit_tables
from wireloom.cli.inspect import draw
from wireloom.cli.main import wireloom
from wireloom.pipeline.catalogue import all_tables
from wireloom.pipeline.derived import DERIVED
from wireloom.pipeline.scopes import By, Scope
from wireloom.registry import NAMES, protocol
from wireloom.wire.descriptions import describe, enums, parts
from wireloom.wire.message import Message

DOCS: Final = Path(__file__).parents[1] / "docs"
BEGIN: Final = "<!-- generated: messages -->"
END: Final = "<!-- end -->"
MAX_TYPE: Final = 120
COMMON_RULES: Final = """\
| what holds for every command | |
|---|---|
| exit status 0 | all went well |
| exit status 1 | something was refused, is damaged or failed |
| exit status 2 | misuse: one sentence on standard error says what to do instead |
| Ctrl-C | ends a command that goes on until then with the status 0, any other with 130 |
| a reader that goes away (`… \\| head -1`) | ends a command without a word |
| `-h` | shows the help of a command |
| `WIRELOOM_DEBUG=1` | shows the traceback of a failure that nobody expected |

`wireloom completion bash`, `zsh` or `fish` makes the Tab key complete commands, options and
choices; its help says where to put what it prints.
"""


def main() -> None:
    """Writes or checks all generated docs."""
    stale = [path for path, text in generated().items() if not up_to_date(path, text)]
    if "--check" in sys.argv:
        for path in stale:
            print(f"{path.relative_to(DOCS.parent)} is not up to date. Type: make docs")
        sys.exit(1 if stale else 0)
    for path in stale:
        path.write_text(generated()[path])
        print(f"wrote {path.relative_to(DOCS.parent)}")


def generated() -> dict[Path, str]:
    """Every file with a generated part, as it should be."""
    pages = {DOCS / "protocols" / f"{name}.md": name for name in NAMES}
    filled = {path: fill(path.read_text(), message_tables(name)) for path, name in pages.items()}
    operations, pipeline = DOCS / "operations.md", DOCS / "pipeline.md"
    return {
        **filled,
        operations: fill(operations.read_text(), limit_tables()),
        pipeline: fill(pipeline.read_text(), fate_tables()),
        DOCS / "cli.md": cli_page(),
        DOCS / "tables.md": tables_page(),
        DOCS / "inspect.svg": picture(),
    }


def up_to_date(path: Path, text: str) -> bool:
    """Whether `path` holds `text` already."""
    return path.exists() and path.read_text() == text


def fill(page: str, text: str) -> str:
    """`page` with `text` between its marks."""
    head, _, rest = page.partition(BEGIN)
    _, mark, tail = rest.partition(END)
    if not mark:
        raise SystemExit(f"no {BEGIN} … {END} in a page of docs")
    return f"{head}{BEGIN}\n\n{text}\n{END}{tail}"


def message_tables(name: str) -> str:
    """A table for every message type of a protocol, then one for each part of them."""
    messages = protocol(name).messages
    shown: list[type[Message]] = []
    blocks = []
    for title, cls in messages.TYPES.items():
        shown.append(cls)
        blocks.append(table(title, cls))
    for cls in messages.PARTS:
        if cls not in shown:
            shown.append(cls)
            blocks.append(table(cls.__name__, cls))
    for part in [part for cls in list(shown) for part in parts(cls)]:
        if part not in shown:
            shown.append(part)
            blocks.append(table(part.__name__, part))
    kinds = dict.fromkeys(kind for cls in shown for kind in enums(cls))
    blocks += [enum_table(kind) for kind in kinds]
    return "\n".join(blocks)


def enum_table(kind: type[Enum]) -> str:
    """One enum as a heading, a sentence and its values."""
    about = " ".join((kind.__doc__ or "").split())
    rows = [f"| {_value(member)} | `{member.name}` |" for member in kind]
    lines = [f"### {kind.__name__}", "", about, "", "| value | name |", "|---|---|", *rows, ""]
    return "\n".join(lines)


def _value(member: Enum) -> str:
    """What stands on the wire: bits in hex."""
    return f"`{member.value:#04x}`" if isinstance(member, Flag) else f"`{member.value}`"


def table(title: str, cls: type[Message]) -> str:
    """One message class as a heading, a sentence and a table."""
    about = " ".join((cls.__doc__ or "").split())
    rows = [
        f"| `{field.name}` | {_linked(field.type, cls)} | {field.size} | {field.meaning} |"
        for field in describe(cls)
    ]
    lines = [f"### {title}", "", about, ""]
    if rows:
        lines += ["| field | type | size | meaning |", "|---|---|---|---|", *rows, ""]
    else:
        lines += ["No fields.", ""]
    return "\n".join(lines)


def _linked(type_: str, cls: type[Message]) -> str:
    """A type, with a link to the values of an enum."""
    type_ = type_.replace("|", "&#124;")
    for kind in enums(cls):
        name = kind.__name__
        type_ = re.sub(rf"\bof {name}\b", f"of [{name}](#{name.lower()})", type_)
    return type_


def tables_page() -> str:
    """docs/tables.md: every column of every table."""
    blocks = [
        "# The tables",
        "",
        "Written by `make docs` from the declarations. All are Delta tables below `tables/`; any",
        "Delta reader opens them. Ids and addresses are text: lower-case hex for bytes, otherwise",
        "as written.",
        "",
    ]
    scopes = {one.table.name: one.scope for one in DERIVED}
    for table in all_tables():
        blocks += [f"## {table.name}", "", table.about, ""]
        if table.key:
            blocks += [f"Key: {', '.join(f'`{name}`' for name in table.key)}.", ""]
        if table.name in scopes:
            blocks += [depends(scopes[table.name]), ""]
        blocks += ["| column | type | unit | meaning |", "|---|---|---|---|"]
        for column in table.columns:
            kind = (
                column.type if len(column.type) <= MAX_TYPE else "struct, see the protocol's page"
            )
            blocks.append(f"| `{column.name}` | {kind} | {column.unit} | {column.meaning} |")
        blocks.append("")
    return "\n".join(blocks)


def depends(scope: Scope) -> str:
    """What the rows of a table depend on, in a sentence."""
    of_protocol = f" of {scope.protocol}" if scope.protocol else ""
    frames = f"all frames{of_protocol}"
    if scope.types:
        frames = f"the frames{of_protocol} of type {', '.join(f'`{one}`' for one in scope.types)}"
    on = _ON.get(scope.by, frames if scope.looks_at else "")
    tables = " and ".join(f"`{one.name}`" for one in scope.made_of)
    return f"Rows depend on {' and on '.join(filter(None, (on, tables)))}."


_ON = {
    By.MESSAGE: "the frames that are a message or refer to it",
    By.CONTENT: "the frames of a content",
    By.FRAME: "one frame",
    By.MINUTE: "the frames of a minute",
    By.NODE: "what a node captured",
}


def picture() -> str:
    """docs/inspect.svg: what `wireloom inspect` draws of a DTN acknowledgement."""
    lines = (DOCS.parent / "vectors" / "dtn.jsonl").read_text().splitlines()
    (vector,) = [one for line in lines if (one := json.loads(line))["name"] == "delivery_ack"]
    with Path(os.devnull).open("w") as nowhere:
        console = Console(
            record=True,
            width=140,
            file=nowhere,
            force_terminal=True,
            highlight=False,
            no_color=False,
        )
        console.print("[bold]$ wireloom inspect dtn a9637369675840…[/]")
        draw(console, protocol("dtn"), bytes.fromhex(vector["hex"]))
    return console.export_svg(title="wireloom inspect", unique_id="inspect")


def cli_page() -> str:
    """docs/cli.md: the help of every command."""
    context = click.Context(wireloom, info_name="wireloom")
    blocks = ["# The command line", "", "Written by `make docs` from the commands themselves.", ""]
    blocks += [COMMON_RULES]
    for names, command in [(("wireloom",), wireloom), *commands(wireloom, context, ("wireloom",))]:
        check_described(" ".join(names), command)
        sub = click.Context(command, info_name=" ".join(names), **wireloom.context_settings)
        blocks += [f"## {' '.join(names)}", "", "```", command.get_help(sub), "```", ""]
    return "\n".join(blocks)


def check_described(name: str, command: click.Command) -> None:
    """Refuses a command, or an option of it, that nobody explains."""
    options = [one for one in command.params if isinstance(one, click.Option)]
    silent = [one.opts[0] for one in options if not one.help]
    if not command.help or silent:
        raise SystemExit(f"{name}: no help for {', '.join(silent) or 'the command'}")


def commands(
    group: click.Group, context: click.Context, names: tuple[str, ...]
) -> list[tuple[tuple[str, ...], click.Command]]:
    """All commands below `group`, in order."""
    found: list[tuple[tuple[str, ...], click.Command]] = []
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if command is None:
            continue
        found.append(((*names, name), command))
        if isinstance(command, click.Group):
            found += commands(command, context, (*names, name))
    return found


if __name__ == "__main__":
    main()
