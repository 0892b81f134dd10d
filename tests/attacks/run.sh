#!/usr/bin/env bash
# Every attack of the audit against `thalweg publish`, a viewer in Chromium beside it: run.py says what may be named. `run.sh soak`
# mixes them for SOAK_MINUTES. What it needs is installed into target/attacks; THALWEG names another program than the one of the
# last release build.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
target=$(cd "$here/../.." && realpath -m "${CARGO_TARGET_DIR:-target}")
export THALWEG=${THALWEG:-$target/release/thalweg} ATTACKS_TARGET=$target/attacks
if ! [ -x "$THALWEG" ]; then
  echo "$THALWEG is not there: cargo build --release -p thalweg-cli" >&2
  exit 1
fi
env=$target/attacks
"$here/../environment" "$env" "$here/requirements.txt"
[ -d "$here/../browser/node_modules" ] || (cd "$here/../browser" && npm ci --no-audit --no-fund --silent)
script=run.py
if [ "${1:-}" = soak ]; then
  script=soak.py
  shift
fi
exec "$env/bin/python" "$here/$script" "$@"
