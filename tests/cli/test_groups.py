"""The groups of commands, listed without an import."""

import inspect
from importlib import import_module

import click
import pytest
from click.testing import CliRunner

from wireloom.cli.groups import GROUPS
from wireloom.cli.main import COMMANDS, wireloom


@pytest.mark.parametrize("name", GROUPS)
def test_a_group_is_what_its_module_has(name: str) -> None:
    listed, there = GROUPS[name], import_module(f"wireloom.cli.{name}").command
    assert set(listed.members) == set(there.commands)
    assert inspect.cleandoc(listed.help or "") == inspect.cleandoc(there.help)
    assert (listed.help or "").splitlines()[0] == COMMANDS[name]
    context = click.Context(listed)
    for member in listed.members:
        assert listed.get_command(context, member) is there.commands[member]


def test_every_group_is_listed() -> None:
    context = click.Context(wireloom)
    found = [
        name for name in COMMANDS if isinstance(wireloom.get_command(context, name), click.Group)
    ]
    assert found == list(GROUPS)


@pytest.mark.parametrize("name", GROUPS)
def test_the_list_fits_on_a_terminal(name: str) -> None:
    result = CliRunner().invoke(wireloom, [name, "--help"], terminal_width=80)
    assert result.exit_code == 0
    listed = result.stdout.partition("Commands:")[2].strip().splitlines()
    assert len(listed) == len(GROUPS[name].members)
    assert all(len(line) <= 78 for line in listed)


def test_a_wrong_name_is_answered_with_the_nearest() -> None:
    result = CliRunner().invoke(wireloom, ["pipeline", "stat"])
    assert result.exit_code == 2
    assert "Did you mean status?" in result.stderr
