#!/bin/sh
# Installs Debian packages where that is allowed, otherwise says what a person has to do, and stops.
#
# usage: sh tools/apt.sh WHAT PACKAGES ELSE
#   WHAT     what is missing, for a person
#   PACKAGES the packages that have it, with spaces between them
#   ELSE     what to do on a machine without apt
set -eu

what=$1 packages=$2 otherwise=$3
if ! command -v apt-get >/dev/null 2>&1; then
    echo "$what is missing. $otherwise" >&2
    exit 1
fi
if [ "$(id -u)" -eq 0 ]; then
    sudo=""
elif command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
    sudo="sudo -n"
else
    echo "$what is missing. Type: sudo apt-get install $packages" >&2
    exit 1
fi
echo "Installing $packages"
$sudo apt-get update -qq
DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq --no-install-recommends $packages
