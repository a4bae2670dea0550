#!/bin/sh
# Makes the virtual environment in .venv with the pinned versions of constraints.txt.
# usage: tools/venv.sh PYTHON
set -eu
python=$1

if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
    echo "Python 3.11 or newer is needed. Install it, or name one: make PYTHON=/path/to/python3" >&2
    exit 1
fi
if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
    if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null 2>&1; then
        apt-get update -qq
        DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends python3-venv
    else
        echo "Python's venv module is missing. Type: sudo apt-get install python3-venv" >&2
        exit 1
    fi
fi
echo "Setting up .venv"
"$python" -m venv --clear .venv
.venv/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt --upgrade pip
.venv/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt \
    --group check --group test --group bench -e '.[all]'
