#!/bin/sh
# Makes what a cluster is sent: the wheel, and the environment of its Python workers.
# usage: deploy/pack.sh PYTHON FOLDER
#
# PYTHON must be of the version that the workers have, at the same path: the packed environment
# refers to it. PySpark is left out, since every worker has Spark's own.
set -eu
python=$1
folder=$2

mkdir -p "$folder"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$python" -m venv "$work/env"
"$work/env/bin/pip" --quiet --disable-pip-version-check wheel --no-deps --wheel-dir "$folder" .
wheel=$(ls -t "$folder"/wireloom-*.whl | head -n 1)
"$work/env/bin/pip" --quiet --disable-pip-version-check install -c constraints.txt \
    "$wheel[tables]" "pandas<3" venv-pack
"$work/env/bin/venv-pack" --force --compress-level 1 --prefix "$work/env" \
    --output "$folder/env.tar.gz"
