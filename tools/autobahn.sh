#!/bin/sh
# Installs the Autobahn test suite, whose last release that works needs Python 2.7: that comes from
# the packages of Debian 11, unpacked into a folder of its own, so the system stays as it is.
#
# usage: sh tools/autobahn.sh FOLDER
set -eu

folder=$1
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
[ ! -e "$folder/ready" ] || exit 0

if ! command -v apt-get >/dev/null 2>&1; then
    echo "The Autobahn suite needs Python 2.7, which is taken from Debian's packages: apt is missing." >&2
    exit 1
fi

echo "Fetching Python 2.7"
mirror=$(apt-get indextargets --format '$(REPO_URI)' | grep -v security | head -n 1)
mkdir -p "$folder/lists/partial" "$folder/cache/archives/partial" "$folder/packages"
echo "deb $mirror bullseye main" >"$folder/sources.list"
cat >"$folder/apt.conf" <<END
Dir::Etc::SourceList "$folder/sources.list";
Dir::Etc::SourceParts "/dev/null";
Dir::State::Lists "$folder/lists";
Dir::State::Status "/dev/null";
Dir::Cache "$folder/cache";
END
export APT_CONFIG="$folder/apt.conf"
apt-get update -qq
(cd "$folder/packages" && apt-get download -qq python2.7-minimal libpython2.7-minimal \
    libpython2.7-stdlib libpython2.7-dev libffi7 libssl1.1)
for package in "$folder"/packages/*.deb; do
    dpkg -x "$package" "$folder/root"
done

cat >"$folder/python" <<END
#!/bin/sh
export LD_LIBRARY_PATH="\$(echo "$folder"/root/usr/lib/*-linux-gnu)"
export PYTHONHOME="$folder/root/usr" PYTHONPATH="$folder/site"
exec "$folder/root/usr/bin/python2.7" "\$@"
END
chmod +x "$folder/python"

echo "Installing the suite"
python3 -m pip download -q --no-deps --only-binary :all: --python-version 2.7 \
    --implementation py --abi none -d "$folder/packages" pip==20.3.4
export PIP_DISABLE_PIP_VERSION_CHECK=1 PYTHONWARNINGS=ignore
pip="$folder/packages/pip-20.3.4-py2.py3-none-any.whl/pip"
"$folder/python" "$pip" install -q --target "$folder/site" setuptools==44.1.1 wheel==0.37.1
CFLAGS="-I$folder/root/usr/include/python2.7" "$folder/python" "$pip" install -q \
    --upgrade --target "$folder/site" -r "$(dirname "$0")/autobahn.txt" setuptools==44.1.1
touch "$folder/site/zope/__init__.py" # a package by itself only where .pth files are read
touch "$folder/ready"
