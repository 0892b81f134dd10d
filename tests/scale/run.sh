#!/usr/bin/env bash
# How many viewers one core serves, beside Janus on the same core: scale.py says what may be named. By the clock, on a machine of two
# cores and nothing else to do: server on the first, viewers on the second. THALWEG and AUDIENCE name other programs than those of the
# last release build.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
target=$(cd "$here/../.." && realpath -m "${CARGO_TARGET_DIR:-target}")
export THALWEG=${THALWEG:-$target/release/thalweg} AUDIENCE=${AUDIENCE:-$target/release/audience} SCALE_TARGET=$target/scale
for program in "$THALWEG" "$AUDIENCE"; do
  if ! [ -x "$program" ]; then
    echo "$program is not there: make test-scale builds it" >&2
    exit 1
  fi
done
exec python3 "$here/scale.py" "$@"
