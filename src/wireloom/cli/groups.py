"""The groups of commands, with a line for each: `wireloom hub --help` needs no import.

The modules of the same names have the commands themselves.
"""

import inspect
from typing import Final

from wireloom.cli.commands import Group, GroupWithDefault

HUB: Final = """Talk to a Signal Hub.

Exit status: 0 if all went well, 1 if the hub refuses, 2 for misuse, 3 if nobody listens or the
connection is lost for good, 4 if no answer comes in time, 5 if one comes that cannot be read.
"""

BROKER: Final = """Talk to a Cthun broker.

Exit status: 0 if all went well, 1 if the broker refuses, 2 for misuse, 3 if nobody listens or
the connection is lost for good, 4 if no answer comes in time, 5 if one comes that cannot be
read.
"""

SWARM: Final = """Take part in a UEP-12 swarm.

`post` and `read` are small peers themselves: they join the swarm through a peer that runs.

Exit status: 0 if all went well, 1 if a message cannot be posted, 2 for misuse, 3 if no peer or
node answers at the address, 4 if no answer comes in time.
"""

SIMULATE: Final = """Play a scenario in a simulated world, from a seed.

`wireloom simulate SCENARIO` is short for `wireloom simulate play SCENARIO`.

Exit status: 0 if all that must hold does, 1 if something does not, 2 for misuse.
"""

GROUPS: Final = {
    "broker": Group(
        "broker",
        help=inspect.cleandoc(BROKER),
        members={
            "inventory": "Print the connected nodes that match a query.",
            "listen": "Print each message to you, until you press Ctrl-C.",
            "send": "Send a message, and print for each target: sent or held.",
        },
    ),
    "capture": Group(
        "capture",
        help="Show, import and export captured frames.",
        members={
            "cat": "Print captured frames as JSON lines, node by node.",
            "export": "Write captured frames as JSON lines or pcapng.",
            "import": "Take frames from pcap, pcapng and JSON lines.",
            "prune": "Delete the oldest segments that a pipeline has taken.",
            "stat": "Show the segments: frames, bytes, times, damage.",
            "tail": "Print the frames that were captured last.",
        },
    ),
    "hub": Group(
        "hub",
        help=inspect.cleandoc(HUB),
        members={
            "connect": "Register an actor and print each message to it.",
            "discover": "Print the registered actors that match a pattern.",
            "publish": "Send a message to the subscribers of a topic.",
            "send": "Send a message to an actor.",
            "stats": "Print how full the hub's queue is.",
            "subscribe": "Print what is published to topics.",
            "token": "Print a token that proves to a hub who its bearer is.",
        },
    ),
    "keys": Group(
        "keys",
        help="Make and show Ed25519 identities.",
        members={
            "new": "Write a new identity to a file.",
            "show": "Print what an identity is called in each protocol.",
        },
    ),
    "pipeline": Group(
        "pipeline",
        help="Turn captured frames into tables, on Spark.",
        members={
            "compact": "Put the tables' small files together.",
            "reprocess": "Decode frames anew that another version decoded.",
            "run": "Bring the tables up to date, and end.",
            "status": "Show what is captured, stored, and cannot be read.",
            "vacuum": "Delete files that no recent version of a table needs.",
            "watch": "Keep the tables up to date, until interrupted.",
        },
    ),
    "simulate": GroupWithDefault(
        "simulate",
        help=inspect.cleandoc(SIMULATE),
        default="play",
        members={
            "play": "Play a scenario with one seed.",
            "sweep": "Play a scenario with many seeds and values, on Spark.",
        },
    ),
    "swarm": Group(
        "swarm",
        help=inspect.cleandoc(SWARM),
        members={
            "peers": "Print the peers that a node speaks with.",
            "post": "Post a message, and wait until a peer has it.",
            "read": "Print the messages of the swarm.",
            "status": "Print how many messages a node has, and what it misses.",
        },
    ),
}
"""Groups by name."""
