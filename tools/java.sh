#!/bin/sh
# Makes sure that Java 17 or newer is there: Spark needs it. Installs it with apt where that is
# allowed, otherwise prints the command that a person has to type, and stops.
set -eu

java_major() {
    "$1" -version 2>&1 | sed -n 's/.*version "\([0-9]*\).*/\1/p' | head -n 1
}

for java in "${JAVA_HOME:-/nonexistent}/bin/java" java; do
    if command -v "$java" >/dev/null 2>&1; then
        major=$(java_major "$java")
        if [ "${major:-0}" -ge 17 ]; then
            exit 0
        fi
    fi
done

exec sh "$(dirname "$0")/apt.sh" "Java 17 or newer" openjdk-17-jre-headless \
    "Install a JRE of version 17 or 21 and put it on the PATH."
