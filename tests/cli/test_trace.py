"""`wireloom trace`."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from support.lakes import AT, HOSTILE, write, write_hostile
from wireloom.cli.main import wireloom
from wireloom.lake import Lake


def run(data: Path, id_: str) -> Result:
    env = {"COLUMNS": "160", "TERM": "dumb"}
    return CliRunner().invoke(wireloom, ["trace", id_, "--data", str(data)], env=env)


def test_a_message_of_every_protocol_can_be_traced(tables: Path) -> None:
    rows = Lake(tables).rows(
        "SELECT protocol, min(message_id) AS id, min_by(state, message_id) AS state FROM fates "
        "GROUP BY protocol"
    )
    assert len(rows) == 5
    for row in rows:
        result = run(tables.parent, str(row["id"]))
        text = result.stdout
        assert result.exit_code == 0
        assert str(row["id"]) in text
        assert str(row["state"]) in text
        assert "+0 ms" in text


def test_an_unknown_id_is_said(tables: Path) -> None:
    result = run(tables.parent, "nothing-like-this")
    assert result.exit_code == 1
    assert "no message has an id" in result.stderr


HASH = "98b29f5a7c89d0f708e7f2401dfbf333e71c5e4c793cb196512036fbd557f587"
OTHER = HASH[::-1]


def sighting(number: int, way: str, ms: float, **further: Any) -> dict[str, Any]:
    """A frame: `in|out peer` or `local` at mesh-06."""
    direction, _, peer = way.partition(" ")
    return {
        "sighting": f"mesh-06#{number}",
        "captured_at": AT + timedelta(milliseconds=ms),
        "node": "mesh-06",
        "protocol": "myriadmesh",
        "link": "udp",
        "direction": direction,
        "peer": peer or None,
        "type": "DATA",
        "message_id": "m1",
        "source": HASH,
        "content": "c",
        **further,
    }


def fate(destination: str, **further: Any) -> dict[str, Any]:
    return {
        "protocol": "myriadmesh",
        "message_id": "m1",
        "destination": destination,
        "state": "delivered",
        "evidence_kind": "wire",
        "evidence_frame": "mesh-06#2",
        "latency_ms": 11_280_000,
        "skew_ms": 0,
        "sent_at": AT,
        "deadline": AT + timedelta(days=7),
        **further,
    }


def life(folder: Path, **tables: list[dict[str, Any]]) -> Path:
    message = {"protocol": "myriadmesh", "message_id": "m1", "type": "DATA", "source": HASH}
    write(
        folder / "tables",
        **{
            "messages": [message | {"conflict": False, "first_seen": AT}],
            "fates": [fate(OTHER)],
            "nodes": [
                {"protocol": "myriadmesh", "node": "mesh-06", "identities": [HASH]},
                {"protocol": "myriadmesh", "node": "mesh-10", "identities": [OTHER]},
            ],
            "frames": [
                sighting(0, "local", 0),
                sighting(1, f"out {OTHER}", 1),
                sighting(2, "in mesh-10", 11_280_000, type="CONTROL", message_id="m2")
                | {"reply_to": "m1", "outcome": "rejected", "outcome_reason": "no_route"},
                sighting(3, "out ", 20_000_000),
            ],
        }
        | tables,
    )
    return folder


def shown(folder: Path, *args: str, columns: str | None = "80") -> str:
    result = CliRunner().invoke(
        wireloom, ["trace", "m1", "--data", str(folder), *args], env={"COLUMNS": columns}
    )
    assert result.exit_code == 0, result.output
    return result.stdout


def test_a_life_as_a_person_reads_it(tmp_path: Path) -> None:
    assert shown(life(tmp_path), columns="100").splitlines() == [
        "myriadmesh DATA m1",
        f"  from mesh-06 {HASH}",
        "  first seen 2026-01-01 06:00:00.000 UTC, deadline +7 d 00 h",
        f"  to mesh-10 {OTHER}",
        "    delivered after 3 h 08 min, proven by a frame, ▸ mesh-06#2",
        "",
        "         after  seen  way                link  message  auth       outcome",
        "         +0 ms  made  mesh-06            udp   DATA     unchecked",
        "       +1.0 ms  left  mesh-06 → mesh-10  udp   DATA     unchecked",
        "▸  +3 h 08 min  came  mesh-10 → mesh-06  udp   CONTROL  unchecked  rejected no_route",
        "   +5 h 33 min  left  mesh-06 → all      udp   DATA     unchecked",
        "▸ proves what became of it",
    ]


def test_what_is_too_wide_goes_on_in_its_own_line(tmp_path: Path) -> None:
    message = {"protocol": "dtn", "message_id": f"m1{HASH}", "type": "GroupAnnounceMsg"}
    source = {"source": HASH, "first_seen": AT}
    nodes = [{"protocol": "dtn", "node": "a-node-with-a-name", "identities": [HASH]}]
    proof = {"protocol": "dtn", "message_id": f"m1{HASH}", "evidence_frame": f"node-{'x' * 40}#7"}
    text = shown(
        life(
            tmp_path,
            messages=[message | source],
            nodes=nodes,
            fates=[fate(HASH, **proof, created_at=AT - timedelta(seconds=44.7))],
        )
    )
    assert text.splitlines()[:8] == [
        "dtn GroupAnnounceMsg",
        f"  m1{HASH}",
        "  from a-node-with-a-name",
        f"    {HASH}",
        "  first seen 2026-01-01 06:00:00.000 UTC, deadline +7 d 00 h",
        "  made 44.7 s before that, by its sender's clock",
        "  to a-node-with-a-name",
        f"    {HASH}",
    ]
    assert text.splitlines()[8:10] == [
        "    delivered after 3 h 08 min,",
        f"      proven by a frame, ▸ node-{'x' * 40}#7",
    ]


def test_folded_lines_stand_below_their_way_with_and_without_a_proof(tmp_path: Path) -> None:
    frames = [sighting(0, "local", 0, outcome="expired", type="x" * 60)]
    for evidence, before in (("mesh-06#0", "▸  "), (None, "")):
        life(tmp_path, frames=frames, fates=[fate("x", evidence_frame=evidence)])
        text = shown(tmp_path).splitlines()
        place = text.index(f"{before}+0 ms  held  mesh-06")
        assert text[place + 1].index("udp") == text[place].index("mesh-06")


@pytest.mark.parametrize("columns", ["80", "120", None])
def test_nothing_is_cut_at_any_width(tmp_path: Path, columns: str | None) -> None:
    peer = "cth://a-node-with-a-long-name.example.com/agent"
    frames = [sighting(0, f"in {peer}", 0, type="http://example.com/a-long-type-of-message")]
    text = shown(life(tmp_path, frames=frames), columns=columns)
    assert f"{peer} → mesh-06" in text
    assert "http://example.com/a-long-type-of-message" in text
    assert "…" not in text


def test_long_lists_say_how_much_is_left_and_all_of_it_can_be_had(tmp_path: Path) -> None:
    frames = [sighting(n, "out mesh-10", n) for n in range(600)]
    fates = [fate(f"node-{n:03}", evidence_frame="mesh-06#599") for n in range(572)]
    fates[3]["state"] = "lost"
    text = shown(life(tmp_path, frames=frames, fates=fates))
    assert "572 destinations: 571 delivered, 1 lost" in text
    assert "and 560 more: --all" in text
    assert "and 559 more: --all" in text
    assert "▸  +599 ms" in text, "the row that proves is never left out"
    whole = shown(tmp_path, "--all")
    assert "more" not in whole
    assert whole.count("left  ") == 600
    assert whole.count("  to node-") == 572


def test_the_application_s_own_type_stands_beside_the_hub_s(tmp_path: Path) -> None:
    frames = [sighting(0, "in x", 0, protocol="signalhub", type="hub:send")]
    message = {"protocol": "signalhub", "message_id": "m1", "type": "hub:send", "first_seen": AT}
    messages = [message | {"app_type": "chat:line"}]
    text = shown(life(tmp_path, frames=frames, messages=messages, fates=[]))
    assert text.startswith("signalhub hub:send (chat:line) m1\n")
    assert "it has no fate" in text


def test_two_contents_a_refusal_and_skewed_clocks_are_said(tmp_path: Path) -> None:
    message = {"protocol": "myriadmesh", "message_id": "m1", "type": "DATA", "first_seen": AT}
    fates = [
        fate("x", state="rejected", reason="no_route", evidence_kind="witness", skew_ms=1500),
        fate("y", state="in_flight", evidence_frame=None, latency_ms=None, skew_ms=None),
    ]
    text = shown(life(tmp_path, messages=[message | {"conflict": True}], fates=fates))
    assert "one id, several contents" in text
    assert "rejected (no_route) after 3 h 08 min, by clocks that differ by 1.50 s or more" in text
    assert "proven by a node's word" in text
    assert "    in flight\n" in text


@pytest.mark.parametrize("columns", ["80", "120", None])
def test_data_does_nothing_to_a_terminal(tmp_path: Path, columns: str | None) -> None:
    write_hostile(tmp_path / "tables", message_id="m1")
    text = shown(tmp_path, columns=columns)
    assert text.replace("\n", "").isprintable()
    assert "[bold red]m[/]" in text


def test_ids_from_data_do_nothing_to_a_terminal_either(tmp_path: Path) -> None:
    messages = [{"protocol": "signalhub", "message_id": f"m{n}{HOSTILE}"} for n in range(2)]
    write(tmp_path / "tables", messages=messages)
    result = run(tmp_path, "m")
    assert result.exit_code == 1
    assert result.stderr.replace("\n", "").isprintable()
    assert len(result.stderr.splitlines()) == 3
