#!/bin/sh
# Installs what the benchmarks compare with: from Debian where apt is allowed, from npm and PyPI into
# benchmarks/.peers. What cannot be had is left out: its lines of the results stay empty.
set -u

here=$(cd "$(dirname "$0")" && pwd)
peers="$here/../benchmarks/.peers"
PATH="$PATH:/usr/sbin"

fetch() { # COMMAND PACKAGES
    command -v "$1" >/dev/null 2>&1 || sh "$here/apt.sh" "$1" "$2" "Install it." ||
        echo "The benchmarks do without $1." >&2
}
fetch cc "gcc libc6-dev"
fetch tshark tshark
fetch nats-server nats-server
fetch mosquitto mosquitto
fetch npm "nodejs npm"

mkdir -p "$peers"
if [ ! -e "$peers/node_modules" ]; then
    echo "Installing Socket.IO"
    npm install --silent --no-audit --no-fund --prefix "$peers" socket.io@4.8.1 ||
        echo "The benchmarks do without Socket.IO." >&2
fi
if [ ! -e "$peers/venv/ready" ]; then
    echo "Installing crossbar and python-socketio"
    { python3 -m venv "$peers/venv" &&
        "$peers/venv/bin/pip" install -q --disable-pip-version-check --no-deps \
            -r "$here/../benchmarks/peers.txt" &&
        touch "$peers/venv/ready"; } || echo "The benchmarks do without both." >&2
fi
