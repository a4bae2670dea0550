#!/bin/sh
# Makes sure that Chromium is there: the browser's client is tested in it. Installs it with apt
# where that is allowed, otherwise prints the command that a person has to type, and stops.
set -eu

for browser in "${CHROMIUM:-}" chromium chromium-browser google-chrome; do
    if [ -n "$browser" ] && command -v "$browser" >/dev/null 2>&1; then
        exit 0
    fi
done

exec sh "$(dirname "$0")/apt.sh" "Chromium" chromium \
    "Install it and put it on the PATH, or name it: CHROMIUM=/path"
