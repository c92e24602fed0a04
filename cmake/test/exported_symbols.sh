#!/usr/bin/env bash
# exported_symbols.sh NM LIBRARY: the shared library exports public names only, vd_noun_verb.
# Names with a double underscore are shared between the library's own files and stay inside.
set -euo pipefail

nm=$1
library=$2

symbols=$("$nm" -D --defined-only --format=posix "$library" | awk '{ print $1 }')
if [ -z "$symbols" ]; then
    echo "$library exports nothing" >&2
    exit 1
fi

bad=$(grep -Ev '^vd_[a-z0-9]+(_[a-z0-9]+)*$' <<<"$symbols" || true)
if [ -n "$bad" ]; then
    printf 'exported, but not a public name:\n%s\n' "$bad" >&2
    exit 1
fi
echo "$(wc -l <<<"$symbols") exported symbols, all public names"
