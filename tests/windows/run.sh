#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The zip for Windows on Windows' own Python, run by Wine: installed from the zip by Blender's module, baked and played
# with, and the tests of what is different there, with the zip's wheels as they are packed. Needs Debian and the scripts
# that make a Windows Python (../shared/tools/windows, or $WINDOWS_TOOLS); skipped without.
#   SLOW                   with the tests that start many children, too (any value)
#   ONLY                   test files instead of those below; without the installation
#   SINEW_WINDOWS_PYTHON   where that Python lies or is made, 1.5 GB (/var/tmp/sinew-windows-5.0)
set -eu
cd "$(dirname "$0")/../.."
tools=$(realpath -m "${WINDOWS_TOOLS:-../shared/tools/windows}")
windows=$(realpath -m "${SINEW_WINDOWS_PYTHON:-/var/tmp/sinew-windows-5.0}")
out=$PWD/build/windows
# steps of multigrid; caches; paths and disks; mesh files; Blender's module
tests="multigrid multigrid_solve cache cache_disk child_windows paths disk_windows windows_source mesh_files
    artist_tet_files export round_trip"
# kill and resume, children, the command line: a child takes long to start under Wine
slow="child child_stopped warm_up command_line"
[ -z "${SLOW:-}" ] || tests="$tests $slow"

skip() { echo "windows test skipped: $*"; exit 0; }
[ -x "$tools/enter.sh" ] || skip "no $tools here"
if [ ! -e "$windows/made" ]; then
    [ "$(id -u)" = 0 ] || skip "it takes root to install Wine"
    command -v apt-get >/dev/null || skip "it takes Debian to install Wine"
    mkdir -p "$out"
    echo "Making a Windows Python in $windows (1 to 2 minutes)"
    # the environment's Python first: the system's may have no pip
    PATH="$PWD/.venv/bin:$PATH" "$tools/make.sh" 3.11 "$windows" >"$out/make.log" 2>&1 || { tail -5 "$out/make.log"; skip "it could not be made"; }
    touch "$windows/made"
fi

.venv/bin/python scripts/build_zip.py --python cp311 --platform windows-x64
zip=$(ls -t dist/sinew-*-windows-x64.zip | head -1)
.venv/bin/python tests/windows/unpack.py "$zip" "$windows/python" "$out"
blender=$out/blender folder=$(mktemp -d)
end() { WINEPREFIX=$blender/prefix wineserver -k 2>/dev/null || true; rm -rf "$folder"; }
trap end EXIT
there() { local path=Z:$1; echo "${path//\//\\}"; }
inside() { "$tools/enter.sh" "$blender" "$@"; }

status=0
if [ -z "${ONLY:-}" ]; then
    echo "== installed from the zip"
    inside "$(there "$PWD/tests/installed/check.py")" "$(there "$PWD/$zip")" "$(there "$folder")" >"$out/installed.log" || status=$?
    grep '^{"blender"' "$out/installed.log" || { cat "$out/installed.log"; status=1; }
    # shellcheck disable=SC2086
    ONLY=$(printf 'tests/test_%s.py ' $tests)
fi
echo "== tests with the zip's wheels"
export PYTHONPATH="$(there "$out/package");$(there "$out/wheels")" SINEW_KERNEL_CACHE="$(there "$out/kernels")"
# shellcheck disable=SC2086
inside -m pytest -q -p no:cacheprovider --timeout "${SECONDS_LIMIT:-300}" $ONLY || status=$?
exit $status
