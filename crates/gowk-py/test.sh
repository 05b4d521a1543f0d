#!/usr/bin/env bash
# Builds the wheel, installs it into an environment of its own under target/, and runs the Python tests; more arguments are pytest's.
set -euo pipefail
cd "$(dirname "$0")"
root=$(realpath ../..)
target=$(realpath -m "${CARGO_TARGET_DIR:-$root/target}")
export CARGO_TARGET_DIR=$target
work=$target/python
mkdir -p "$work"

if ! python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
    echo "left out: the Python tests, as $(python3 --version) is older than 3.11"
    exit 0
fi
python3 -m venv "$work/venv" 2>/dev/null || { echo "missing: venv of python3 (package python3-venv)" >&2; exit 1; }
bin=$work/venv/bin
"$bin/pip" --quiet --disable-pip-version-check install 'maturin>=1.9,<2' pytest pytest-timeout hypothesis numpy pyarrow 'pandas<3' polars mypy
if command -v java >/dev/null; then
    "$bin/pip" --quiet --disable-pip-version-check install 'pyspark>=3.5'
else
    echo "left out: the tests of gowk.spark, as there is no Java here (17 or later)"
fi

rm -rf "$work/wheels"
# Not --release: the dependencies are those of the other tests.
"$bin/maturin" build --quiet --profile dev --interpreter "$bin/python" --out "$work/wheels"
"$bin/pip" --quiet --disable-pip-version-check install --force-reinstall --no-deps "$work"/wheels/gowk-*.whl
# The command line, unless the caller has built it: alone it needs other features, and so all of its dependencies again.
if [ -z "${GOWK_CLI:-}" ]; then
    cargo build --quiet -p gowk-cli
    export GOWK_CLI=$target/debug/gowk
fi

"$bin/python" -m pytest -q -p no:cacheprovider --timeout 300 tests "$@"
