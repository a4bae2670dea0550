#!/bin/sh
# Makes sure that Chromium is there: the browser's client is tested in it. Installs it with apt
# where that is allowed, otherwise prints the command that a person has to type, and stops.
set -eu

for browser in "${CHROMIUM:-}" chromium chromium-browser google-chrome; do
    if [ -n "$browser" ] && command -v "$browser" >/dev/null 2>&1; then
        exit 0
    fi
done

package=chromium
if command -v apt-get >/dev/null 2>&1; then
    if [ "$(id -u)" -eq 0 ]; then
        sudo=""
    elif command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
        sudo="sudo -n"
    else
        echo "Chromium is missing. Type: sudo apt-get install $package" >&2
        exit 1
    fi
    echo "Installing $package"
    $sudo apt-get update -qq
    DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq --no-install-recommends "$package"
else
    echo "Chromium is missing. Install it and put it on the PATH, or name it: CHROMIUM=/path" >&2
    exit 1
fi
