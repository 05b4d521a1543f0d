#!/usr/bin/env bash
# Runs the tests of these commands that redis-py has, all but those of t-digest, against a server with the module, in both protocols.
set -euo pipefail
cd "$(dirname "$0")/../../.."
version=8.1.0
target=${CARGO_TARGET_DIR:-target}
work=$target/redis-py
mkdir -p "$work"

python3 -m venv "$work/venv" 2>/dev/null || { echo "missing: venv of python3 (package python3-venv)" >&2; exit 1; }
pip="$work/venv/bin/pip --quiet --disable-pip-version-check"
$pip install "redis==$version" pytest pytest-asyncio pytest-timeout numpy
if [ ! -d "$work/redis-$version" ]; then
    $pip download --no-deps --no-binary :all: --dest "$work" "redis==$version"
    tar -xzf "$work/redis-$version.tar.gz" -C "$work"
fi

[ -n "${GOWK_MODULE:-}" ] || cargo build --quiet -p gowk-module
module=${GOWK_MODULE:-$(realpath "$target/debug/libgowk.so")}
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
folder=$(mktemp -d)
redis-server --port "$port" --bind 127.0.0.1 --save '' --dir "$folder" --loadmodule "$module" >"$folder/log" &
server=$!
trap 'kill "$server" 2>/dev/null; wait "$server" 2>/dev/null || true; rm -rf "$folder"' EXIT
for _ in $(seq 100); do redis-cli -p "$port" ping >/dev/null 2>&1 && break; sleep 0.1; done

tests=$(realpath "$work/redis-$version")
python=$(realpath "$work/venv")/bin/python
url=redis://127.0.0.1:$port
for protocol in 2 3; do
    echo "protocol $protocol"
    (cd "$tests" && "$python" -W ignore -m pytest -q -p no:cacheprovider --disable-warnings tests/test_bloom.py -k "not tdigest" \
        --redis-url "$url" --redis-mod-url "$url" --protocol "$protocol")
done
