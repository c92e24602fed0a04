#!/usr/bin/env bash
# sweep_smoke.sh TESTSTACK: a sweep of two points with the real programs, from its first start to a
# second one that finds nothing to do. Asserts no time and no rate.
#
# SPDX-License-Identifier: MIT
set -euo pipefail

program=$1
port=$((20000 + $$ % 12000)) # below the ephemeral ports
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

fail() {
    printf 'sweep_smoke: %s\n' "$*" >&2
    cat ./*.txt >&2 || true
    exit 1
}

sweep() {
    "$program" --sweep --sweep-spec grid.txt --sweep-duration 0.2 --sweep-warmup 0.05 \
        --base-port "$port" --csv rows.csv "$@"
}

printf 'transport udp\nlisten 1 0\nwindow 10\n' >grid.txt

sweep >out.txt 2>err.txt || fail "the sweep failed"
[ "$(wc -l <rows.csv)" = 3 ] || fail "not two rows"
[ "$(grep -c ',ok,' rows.csv)" = 1 ] || fail "not one point was measured"
[ "$(grep -c ',skipped,' rows.csv)" = 1 ] || fail "not one point was skipped"
grep -q '^2 of 2 points: 1 measured, 1 skipped, 0 failed, in rows.csv$' out.txt || fail "no summary"
[ ! -s err.txt ] || fail "something on stderr"

# Again, after its writer was stopped in the middle of a line: only that point is measured.
cp rows.csv whole.csv
{ head -n 1 whole.csv; grep ',skipped,' whole.csv; grep ',ok,' whole.csv | head -c 40; } >rows.csv
sweep >again.txt 2>&1 || fail "the sweep did not go on"
[ "$(wc -l <rows.csv)" = 3 ] || fail "not two rows after going on"
[ "$(grep -c '^register ' again.txt)" = 1 ] || fail "not one point was left"

# Once more: nothing is left, and it is the same as itself.
cp rows.csv whole.csv
sweep --baseline whole.csv >done.txt 2>&1 || fail "a finished sweep failed"
cmp -s rows.csv whole.csv || fail "a finished sweep was changed"
grep -q '^beside whole.csv: 0 better, 0 worse, ' done.txt || fail "not the same as itself"

# Another grid does not go into the same file.
status=0
sweep --repeat 2 >other.txt 2>&1 || status=$?
[ "$status" = 1 ] || fail "rows of another sweep were mixed"
