#!/usr/bin/env bash
# Each scenario by the clock and in virtual time, as often as asked for: how far the two are apart, and how far live runs are from one
# another. Wants a quiet machine: `RETRANSMISSIONS=5 tests/agree/agree.sh`.
set -euo pipefail
cd "$(dirname "$0")/../.."
thalweg=${THALWEG:-./target/release/thalweg}
schemes=${SCHEMES:-gcc,vidaptive,copa,camel}
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
for scenario in ${SCENARIOS:-constant step lte}; do
  if [ "$scenario" = lte ] && ! "$thalweg" data verify mahimahi >/dev/null 2>&1; then
    echo "skipped: $thalweg data fetch mahimahi gets the recording"
    continue
  fi
  for retransmission in $(seq "${RETRANSMISSIONS:-3}"); do
    echo "# $scenario, retransmission $retransmission, load $(cut -d' ' -f1 /proc/loadavg)"
    "$thalweg" run "tests/agree/$scenario.toml" --scheme "$schemes" --live --against-simulator --out "$out" |
      sed -n '/^live/,$p'
  done
done
