#!/bin/bash
# The extension in a real Blender 5.2 with a window on a virtual screen: installed from its zip, pressed with the
# mouse, cancelled with ESC. Pictures and result.json go to
# build/window, those of its installation with the mouse to build/window/installation. Ends with how many seconds each part took. With the word "prepare" it only makes the
# Blender and the zip. Needs root, Debian, and the scripts that make a Blender out of Debian packages
# (../shared/tools/real_blender, or $REAL_BLENDER_TOOLS); skipped without.
#   ONLY                   parts of scenarios.py to run, such as contact_bake, or installation (all)
#   SINEW_WINDOW_SECONDS   after which no part begins any more; result.json then names those that were not begun (none)
#   SINEW_SEED             which operations seeded_operations does (20)
#   SINEW_OPERATIONS       and how many (300)
#   SINEW_MOVIE            1: playground_by_mouse takes the pictures of scripts/live_movie.py
#   SCREEN_NUMBER          of the virtual screen, where another run has 97 (97)
#   SINEW_WINDOW_BLENDER   where that Blender lies or is made, 1.7 GB (/var/tmp/sinew-blender52)
set -eu
cd "$(dirname "$0")/../.."
tools=$(realpath -m "${REAL_BLENDER_TOOLS:-../shared/tools/real_blender}")
blender=${SINEW_WINDOW_BLENDER:-/var/tmp/sinew-blender52}
out=build/window

skip() { echo "window test skipped: $*"; exit 0; }
[ -x "$tools/enter.sh" ] || skip "no $tools here"
[ "$(id -u)" = 0 ] || skip "it takes root to make a Blender of Debian packages"
unshare --mount true 2>/dev/null || skip "this machine allows no mount namespaces"

mkdir -p "$out"
rm -rf "${out:?}"/*
if [ ! -e "$blender/made" ]; then
    [ -e /etc/apt/sources.list.d/debian.sources ] || skip "no /etc/apt/sources.list.d/debian.sources to make a Blender from"
    echo "Making a Blender 5.2 out of Debian packages in $blender (1 to 2 minutes)"
    # the environment's Python first: the system's may have no pip
    PATH="$PWD/.venv/bin:$PATH" "$tools/make.sh" sid "$blender" >"$out/make.log" 2>&1 || { tail -5 "$out/make.log"; skip "it could not be made"; }
    touch "$blender/made"
fi

.venv/bin/python scripts/build_zip.py --python cp314 --platform linux-x64
[ "${1:-}" != prepare ] || exit 0
zip=$(ls -t dist/sinew-*-debian-linux-x64.zip | head -1)
inside() { "$tools/enter.sh" "$blender" -b "$PWD:/repo" -b "$tools:/tools" -e "SINEW_KERNEL_CACHE=/repo/$out/kernels" -e SECONDS_LIMIT=4800 -e "SCREEN_NUMBER=${SCREEN_NUMBER:-97}" -e HOME=/root ${ONLY:+-e "ONLY=$ONLY"} ${SINEW_WINDOW_SECONDS:+-e "SINEW_WINDOW_SECONDS=$SINEW_WINDOW_SECONDS"} ${SINEW_MOVIE:+-e "SINEW_MOVIE=$SINEW_MOVIE"} ${SINEW_SEED:+-e "SINEW_SEED=$SINEW_SEED"} ${SINEW_OPERATIONS:+-e "SINEW_OPERATIONS=$SINEW_OPERATIONS"} "$@"; }
rm -rf "$blender/root/.config/blender" "$blender/root/.cache/sinew"
# A run that was killed leaves the lock of its X server, which then takes any process of that number for itself.
rm -f "$blender"/tmp/.X*-lock "$blender"/tmp/.X11-unix/X*
# So are its caches, of which the panel would tell in every picture.
rm -rf "$blender"/tmp/sinew-*
inside blender --command extension validate "/repo/$zip"
run() {  # DRIVER FOLDER
    local driver=$1 folder=$2 code=0
    inside bash /tools/window.sh "/repo/$zip" "/repo/tests/window/$driver" "/repo/$folder" || code=$?
    echo "$(find "$folder" -maxdepth 1 -name '*.png' | wc -l) pictures in $folder"
    cat "$folder/result.json" || true  # last, so that it is beside the error where only the end of the output is seen
    echo
    grep -q '"passed": true' "$folder/result.json" || code=1
    return "$code"
}
status=0
case ",${ONLY:-installation}," in *,installation,*)
    mkdir -p "$blender/root/Downloads"
    rm -f "$blender"/root/Downloads/*
    cp "$zip" "$blender/root/Downloads/"
    run installation.py "$out/installation" || status=$? ;;
esac
[ "${ONLY:-}" = installation ] || run scenarios.py "$out" || status=$?
.venv/bin/python tests/window/part_seconds.py "$out"/result.json "$out"/*/result.json || true
rm -rf "$out/kernels"
exit $status
