"""Is decoding to columns faster than the usual tools are on the same traffic?

The traffic: signed MyriadMesh frames in UDP datagrams on port 4001, in a pcap file. The result: a
table with a column for every field of header and payload, ids and bytes as hex, codes and
flags as names.

* Wireloom reads the frames from its capture log (from disk, checksums verified), checks and
  decodes them, hashes their contents, and makes an Arrow table. This is what happens to a frame
  each time tables are made of it.
* dpkt + pandas reads the pcap with dpkt, decodes each frame with struct, checks magic,
  version, length and hop limit, and makes a DataFrame of the rows: a plain script, one core.
* tshark exports the pcap as JSON. It knows no MyriadMesh and shows the frame as one hex
  string, so that it does less: no field of the frame is decoded.

Wireloom uses all cores, as its pipeline does: each worker has its share of the batches, and its
columns stay with it until it writes them. The script and tshark use one core, as they do. Two lines
without a goal show Wireloom on one core, and with the import that it takes, once, to come from a
pcap to the capture log.
"""

import shutil
import statistics
import struct
import subprocess
from collections.abc import Callable, Iterator
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import dpkt
import pandas as pd
import pyarrow as pa

from corpora import DATA, FRAMES, mesh_frames
from timing import Figure, take_turns
from wireloom.capture.frame import CapturedFrame
from wireloom.capture.importers.savefiles import take_pcap
from wireloom.capture.importers.traffic import Traffic
from wireloom.capture.reader import Damage, known_sums, read_segment
from wireloom.capture.segment import segments
from wireloom.capture.writer import FLUSH_FRAMES, CaptureWriter
from wireloom.pipeline.decoding import decode_batch
from wireloom.pipeline.spark import CORES
from wireloom.protocols.myriadmesh.constants import (
    AckType,
    Command,
    ContentType,
    Flags,
    MessageType,
    QueryType,
    TestType,
)

COUNT: Final = min(FRAMES, 16 * FLUSH_FRAMES)
"""Whole batches, as many for each worker: none waits for the others."""
ROUNDS: Final = 5
TURNS: Final = 5
"""How often what takes a fraction of a second is done in a round, so that noise averages out."""
PORT: Final = 4001

HEADER: Final = struct.Struct(">4sBBBBBH16s32s32sQ")
FLAG_NAMES: Final = [(int(flag), str(flag.name).lower()) for flag in Flags]
TYPES: Final = {int(member): member.name for member in MessageType}
CONTENT_TYPES: Final = {int(member): member.name for member in ContentType}
COMMANDS: Final = {int(member): member.name for member in Command}
QUERIES: Final = {int(member): member.name for member in QueryType}
TESTS: Final = {int(member): member.name for member in TestType}
ACKS: Final = {int(member): member.name for member in AckType}


def measure() -> list[Figure]:
    """The figures."""
    with TemporaryDirectory(dir=DATA) as folder:
        savefile, captures = Path(folder) / "mesh.pcap", Path(folder) / "captures"
        write_pcap(savefile, mesh_frames(COUNT))
        import_pcap(savefile, captures)
        again = Path(folder) / "again"

        def with_import() -> object:
            shutil.rmtree(again, ignore_errors=True)
            import_pcap(savefile, again)
            return decoded(again)

        workers = get_context("fork").Pool(CORES)
        shares = [(captures, number) for number in range(CORES)]

        def with_workers() -> int:
            return sum(workers.starmap(decode_share, shares))

        if (ours := decoded(captures).num_rows) != (theirs := len(with_pandas(savefile))):
            raise AssertionError(f"{ours} rows, {theirs} of the script")
        return [
            _figure(
                f"{COUNT:,} MyriadMesh frames to columns, ours from the capture log",
                with_workers,
                lambda: with_pandas(savefile),
                "dpkt, struct, pandas on the pcap",
                goal=15,
                turns=TURNS,
            ),
            _tshark(savefile, with_workers),
            _figure(
                f"{COUNT:,} MyriadMesh frames to columns, ours from the capture log on one core",
                lambda: decoded(captures),
                lambda: with_pandas(savefile),
                "dpkt, struct, pandas on the pcap",
                goal=None,
            ),
            _figure(
                f"{COUNT:,} MyriadMesh frames to columns, ours with the import of the pcap",
                with_import,
                lambda: with_pandas(savefile),
                "dpkt, struct, pandas on the pcap",
                goal=None,
            ),
        ]


def decoded(captures: Path) -> pa.Table:
    """Wireloom's way, on one core."""
    return pa.Table.from_batches(_decoded(captures, 0, 1))


def decode_share(captures: Path, number: int) -> int:
    """Wireloom's way, in one worker of all; how many rows it has."""
    return int(pa.Table.from_batches(_decoded(captures, number, CORES)).num_rows)


def _decoded(captures: Path, number: int, workers: int) -> Iterator[pa.RecordBatch]:
    """Every so many-th batch."""
    for segment in segments(captures):
        for place in range(number, len(known_sums(segment)), workers):
            for batch in read_segment(segment, start=place, stop=place + 1):
                if isinstance(batch, Damage):
                    raise TypeError(batch)
                yield decode_batch(batch)


def import_pcap(savefile: Path, captures: Path) -> None:
    """What `wireloom capture import` does."""
    with savefile.open("rb") as file, CaptureWriter(captures, savefile.stem) as writer:
        for item in Traffic(savefile.stem).take(take_pcap(file)):
            if not isinstance(item, CapturedFrame):
                raise TypeError(item)
            writer.append(item)


def with_pandas(savefile: Path) -> pd.DataFrame:
    """The plain script."""
    rows = []
    with savefile.open("rb") as file:
        for at, packet in dpkt.pcap.Reader(file):
            ip = dpkt.ethernet.Ethernet(packet).data
            if isinstance(ip, dpkt.ip.IP) and isinstance(ip.data, dpkt.udp.UDP):
                udp = ip.data
                if udp.dport != PORT:
                    continue
                rows.append({"time": at, "source_ip": ip.src.hex(), **decode(udp.data)})
    return pd.DataFrame(rows)


def decode(raw: bytes) -> dict[str, Any]:
    """One frame as a row."""
    (magic, version, flags, code, priority, ttl, length, id_, source, destination, timestamp) = (
        HEADER.unpack_from(raw)
    )
    end = HEADER.size + length
    signed = flags & Flags.SIGNED.value
    if magic != b"MYMS" or version != 1 or not ttl or len(raw) != end + (64 if signed else 0):
        raise ValueError(raw)
    return {
        "raw": raw,
        "version": version,
        "flags": [name for bit, name in FLAG_NAMES if flags & bit],
        "message_type": TYPES[code],
        "priority": priority,
        "ttl": ttl,
        "payload_length": length,
        "message_id": id_.hex(),
        "source_node_id": source.hex(),
        "dest_node_id": destination.hex(),
        "timestamp": timestamp,
        "signature": raw[end:].hex() if signed else None,
        **payload(flags, TYPES[code], raw[HEADER.size : end]),
    }


def payload(flags: int, type_: str, body: bytes) -> dict[str, Any]:  # noqa: PLR0911
    """The fields of the payloads that are in the file."""
    if flags & Flags.ENCRYPTED.value:
        return {"ciphertext": body.hex()}
    if flags & Flags.ACK.value:
        return {"original_message_id": body[:16].hex(), "ack_type": ACKS[body[16]]}
    match type_:
        case "DATA":
            return {"content_type": CONTENT_TYPES[body[0]], "data": body[1:].hex()}
        case "CONTROL":
            return {"command": COMMANDS[body[0]], "parameters": body[1:].hex()}
        case "HEARTBEAT":
            sequence, uptime, load = struct.unpack(">IIH", body)
            return {"sequence_number": sequence, "uptime": uptime, "load_average": load / 100}
        case "DHT_QUERY":
            return {"query_type": QUERIES[body[0]], "key": body[1:].hex()}
        case "TEST_REQUEST":
            (size,) = struct.unpack_from(">H", body, 9)
            test = {"test_type": TESTS[body[0]], "test_id": body[1:9].hex(), "payload_size": size}
            return {**test, "test_payload": body[11:].hex()}
        case "DISCOVERY":
            (abilities,) = struct.unpack_from(">I", body, 32)
            return {"public_key": body[:32].hex(), "capabilities": abilities}
    raise ValueError(type_)


def write_pcap(path: Path, frames: list[bytes]) -> None:
    """Frames in UDP datagrams, a hundred microseconds apart."""
    with path.open("wb") as file:
        writer = dpkt.pcap.Writer(file)
        for place, raw in enumerate(frames):
            udp = dpkt.udp.UDP(sport=PORT, dport=PORT, data=raw, ulen=8 + len(raw))
            source = bytes((10, 0, 0, 1 + place % 50))
            ip = dpkt.ip.IP(src=source, dst=b"\x0a\x00\x01\x01", p=17, data=udp)
            ip.len = len(ip)
            packet = dpkt.ethernet.Ethernet(src=b"\2" * 6, dst=b"\4" * 6, data=ip)
            writer.writepkt(bytes(packet), ts=1_760_000_000 + place / 10_000)


def _tshark(savefile: Path, ours: Callable[[], object]) -> Figure:
    question, peer_name = (
        f"{COUNT:,} MyriadMesh frames, ours from the capture log",
        "tshark -T json of the pcap",
    )
    if shutil.which("tshark") is None:
        return Figure(question, "–", f"{peer_name}: not installed", None, 10)
    command = ["tshark", "-n", "-r", str(savefile), "-T", "json"]
    return _figure(
        question,
        ours,
        lambda: subprocess.run(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True
        ),
        peer_name,
        goal=10,
        turns=TURNS,
    )


def _figure(
    question: str,
    ours: Callable[[], object],
    peer: Callable[[], object],
    peer_name: str,
    *,
    goal: float | None,
    turns: int = 1,
) -> Figure:
    print(f"  {question}: Wireloom, {peer_name}", flush=True)
    taken = [
        (own / turns, theirs)
        for own, theirs in take_turns(lambda: [ours() for _ in range(turns)], peer, rounds=ROUNDS)
    ]
    mine, other = (statistics.median(side) for side in zip(*taken, strict=True))
    return Figure(
        question,
        f"{COUNT / mine:,.0f} frames/s",
        f"{peer_name}: {COUNT / other:,.0f} frames/s",
        statistics.median(theirs / own for own, theirs in taken),
        goal,
    )
