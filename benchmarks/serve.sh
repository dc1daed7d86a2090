#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# benchmarks/serve.sh [runs]   how long `reprise serve` takes to answer /readyz, and what memory it uses
#
# Starts it as a user does, with ./reprise, on an empty SQLite file in a directory of its own. Prints one line per run: seconds until
# the first answer, resident memory then, and after 2,000 jobs were enqueued in batches of 100. A start before them, which may have to
# build the program and to prepare for quick starts, is not counted. Needs curl.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
runs=${1:-5}
"$root/reprise" --version >&2

rss_mb() { awk '/VmRSS/ {printf "%.0f", $2 / 1024}' "/proc/$1/status"; }

printf '%s\n' 'run  ready_s  rss_mb  rss_mb_after_2000_jobs'
for ((run = 0; run <= runs; run++)); do
    dir=$(mktemp -d)
    : >"$dir/out"
    begin=$(date +%s.%N)
    "$root/reprise" serve --store-url "sqlite:$dir/jobs.db" --http-port 0 >"$dir/out" &
    pid=$!
    trap 'kill "$pid" 2>/dev/null || true' EXIT
    until url=$(sed -n 's/^Reprise listens on //p' "$dir/out") && [[ -n $url ]]; do sleep 0.01; done
    until curl -sf "$url/readyz" >/dev/null; do sleep 0.01; done
    ready=$(awk -v a="$begin" -v b="$(date +%s.%N)" 'BEGIN {printf "%.2f", b - a}')
    before=$(rss_mb "$pid")
    key=$(sed -n 's/^  \(reprise_.*\)$/\1/p' "$dir/out")
    batch="[$(for _ in {1..100}; do printf '{"type":"t","payload":{"n":1}},'; done | sed 's/,$//')]"
    for _ in {1..20}; do
        curl -sf "$url/v1/jobs" -H "Authorization: Bearer $key" -H 'Content-Type: application/json' -d "$batch" >/dev/null
    done
    if ((run > 0)); then printf '%3d  %7s  %6s  %22s\n' "$run" "$ready" "$before" "$(rss_mb "$pid")"; fi
    kill "$pid"
    wait "$pid" 2>/dev/null || true
    trap - EXIT
    rm -rf "$dir"
done
