#!/usr/bin/env bash
# include_rules.sh PROJECT: the folders include only what the architecture allows.
# stack/ has no socket, clock, thread, stdio or errno header and nothing of the folders above it;
# transport/ includes of stack/ the public headers only; programs use public headers only.
set -euo pipefail

cd "$1"
status=0

# forbid REASON PATTERN FOLDER...: no C file directly in the folders includes what PATTERN matches.
forbid() {
    local reason=$1 pattern=$2 folder files hits
    shift 2
    for folder in "$@"; do
        files=$(find "$folder" -maxdepth 1 -name '*.[ch]' 2>/dev/null)
        [ -n "$files" ] || continue
        # shellcheck disable=SC2086 # one file name a word
        hits=$(grep -nHE "^[[:space:]]*#[[:space:]]*include[[:space:]]*[<\"]$pattern" $files || true)
        if [ -n "$hits" ]; then
            printf '%s:\n%s\n' "$reason" "$hits" >&2
            status=1
        fi
    done
}

# sys/random.h is allowed: it is the default of a setting that the caller may replace.
forbid 'stack/ must not include a system interface' \
    '(sys/([^r]|r[^a])|netinet/|arpa/|net/|linux/|time\.h|pthread\.h|threads\.h|stdio\.h|errno\.h|assert\.h|poll\.h|unistd\.h|signal\.h|netdb\.h|fcntl\.h|stdatomic\.h)' \
    stack stack/include/viaduct

# The header names of the folders above, as patterns.
headers_of() {
    find "$@" -maxdepth 1 -name '*.h' -printf '%f\n' 2>/dev/null | sed 's/\./\\./' | paste -sd '|'
}

above=$(headers_of transport/include/viaduct)
if [ -n "$above" ]; then
    forbid 'stack/ must not include a header of transport/' "viaduct/($above)[>\"]" \
        stack stack/include/viaduct
fi

forbid 'a folder reaches another one through its public headers only' \
    '[^">]*(\.\./|stack/|transport/|testStack/|apps/|interop/|bench/)' \
    stack transport testStack bench stack/include/viaduct transport/include/viaduct

exit "$status"
