#!/usr/bin/env bash
# install_test.sh CMAKE CC BUILD VERSION LIBDIR: installs BUILD into a scratch folder and builds and
# runs a small program against the result, with pkg-config and with find_package, against the shared
# and the static library. Then the installation is moved, to see that nothing in it names its place.
set -euo pipefail

cmake=$1
cc=$2
build=$3
version=$4
libdir=$5

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

fail() {
    echo "install_test: $*" >&2
    exit 1
}

# expect_run PROGRAM shared|static PREFIX: it runs, and needs libviaduct.so or does not.
expect_run() {
    local program=$1 kind=$2 prefix=$3 needed
    LD_LIBRARY_PATH="$prefix/$libdir" "$program" || fail "$program failed"
    needed=$(readelf -d "$program" | grep -c 'NEEDED.*libviaduct\.so\.0' || true)
    case $kind in
    shared) [ "$needed" = 1 ] || fail "$program does not use libviaduct.so.0" ;;
    static) [ "$needed" = 0 ] || fail "$program uses libviaduct.so.0" ;;
    esac
    echo "ok: ${program#"$scratch"/}"
}

with_pkg_config() {
    local prefix=$1 out=$2 compile shared static
    export PKG_CONFIG_PATH="$prefix/$libdir/pkgconfig"
    [ "$(pkg-config --modversion viaduct)" = "$version" ] || fail "viaduct.pc has another version"
    compile=$(pkg-config --cflags viaduct)
    shared=$(pkg-config --libs viaduct)
    static=$(pkg-config --static --libs viaduct)
    # shellcheck disable=SC2086 # flags are words
    "$cc" -std=c17 -Wall -Wextra -Werror $compile "$here/consumer.c" -o "$out-shared" $shared
    # shellcheck disable=SC2086
    "$cc" -std=c17 -Wall -Wextra -Werror $compile "$here/consumer.c" -o "$out-static" \
        -Wl,-Bstatic $static -Wl,-Bdynamic
    expect_run "$out-shared" shared "$prefix"
    expect_run "$out-static" static "$prefix"
}

with_find_package() {
    local prefix=$1 out=$2
    "$cmake" -S "$here/consumer" -B "$out" -G Ninja -DCMAKE_C_COMPILER="$cc" \
        -DCMAKE_PREFIX_PATH="$prefix" -DVIADUCT_EXPECTED_VERSION="$version"
    "$cmake" --build "$out"
    expect_run "$out/consumer_shared" shared "$prefix"
    expect_run "$out/consumer_static" static "$prefix"
}

"$cmake" --install "$build" --prefix "$scratch/installed" >"$scratch/install.log" ||
    fail "cmake --install failed"
with_pkg_config "$scratch/installed" "$scratch/pkg_config"
with_find_package "$scratch/installed" "$scratch/find_package"

mv "$scratch/installed" "$scratch/moved"
with_pkg_config "$scratch/moved" "$scratch/moved_pkg_config"
with_find_package "$scratch/moved" "$scratch/moved_find_package"
