# SPDX-License-Identifier: GPL-3.0-or-later
"""The names of all files in a cache folder. Files with other names are not Sinew's."""

from __future__ import annotations

import os
import re
from pathlib import Path

from ...runtime.atomic_files import PART_SUFFIX
from ...scene.object_key_rule import is_key

METADATA_FILE = "cache.json"
LOCK_FILE = "lock"
LOG_FILE = "log.txt"
REPORT_FILE = "report.jsonl"
SCENE_FOLDER = "scene"
# exists while `start_over` deletes an earlier bake
START_OVER_MARK = "starts-over"
# exists while `resume` deletes later frames; contains the number of the last frame that stays
RESUME_MARK = "goes-on"
# the previous scene, between two renames
OLD_SUFFIX = ".old"
# digest of Blender's settings at the export
SETTINGS_FILE = "settings.txt"
# the same of each body that is baked
BODY_SETTINGS_FILE = "bodies.json"
MODEL_FOLDER = "model"
FRAME_FOLDER = "frames"
RESUME_FOLDER = "resume"
PLAY_FOLDER = "play"
TOPOLOGY_FOLDER = "topology"
RESULT_FOLDER = "result"
ATTRIBUTE_FOLDER = "attributes"
# splinters of brittle bodies that are shown as particles
DUST_FOLDER = "dust"
CONTACT_FOLDER = "contacts"
PREROLL_FOLDER = "preroll"
# motion of wraps, which Blender writes
WRAP_FOLDER = "wrap"
# the last samples of a live run, and what was done in it
LIVE_FOLDER = "live"
LIVE_CONTROLS_FILE, LIVE_INPUTS_FILE, LIVE_HEAD_FILE = "controls.json", "inputs.jsonl", "head.bin"
LIVE_STARTS_FILE = "starts.json"
LIVE_FILES = (LIVE_CONTROLS_FILE, LIVE_INPUTS_FILE, LIVE_HEAD_FILE, LIVE_STARTS_FILE)
LIVE_SHAPES_ENDING, LIVE_START_ENDING, LIVE_RESTART_ENDING = ".shapes", ".start", ".restart"
# the list of checkpoints
RESUME_LIST = f"{RESUME_FOLDER}/points.json"
# copy of cache.json, in case that is lost
METADATA_COPY = f"{MODEL_FOLDER}/{METADATA_FILE}"
# output of a bake
BAKED_FOLDERS = (
    ATTRIBUTE_FOLDER,
    DUST_FOLDER,
    CONTACT_FOLDER,
    PREROLL_FOLDER,
    WRAP_FOLDER,
    RESULT_FOLDER,
    PLAY_FOLDER,
    RESUME_FOLDER,
    FRAME_FOLDER,
    TOPOLOGY_FOLDER,
    MODEL_FOLDER,
)

_NUMBERED_NAME = re.compile(r"(-?\d+)\.npz")
# the cache of a later pass
_PASS_NAME = re.compile(r"pass-(\d+)")
# the cache of bodies that were baked after the others
_SELECTED_NAME = re.compile(r"selected-(\d+)")
# samples and mesh of a torn body in a live run, since a number of cuts
_TORN_NAME = re.compile(r"(.+)@(\d+)\.(?:npz|pc2)")
_ATTRIBUTES_NAME = re.compile(r"(-?\d+)\.ply")
_RESTART_NAME = re.compile(r"(\d+)" + re.escape(LIVE_RESTART_ENDING))


def numbered_path(folder: Path, frame: int) -> Path:
    """Returns the path of a frame, a checkpoint or a topology."""
    return folder / f"{frame:06d}.npz"


def numbers_in(folder: Path) -> list[int]:
    """Returns the numbers of the frames, checkpoints or topologies in a folder, rising."""
    return _numbers(folder, _NUMBERED_NAME)


def _numbers(folder: Path, pattern: re.Pattern[str]) -> list[int]:
    """Returns the numbers in the names of files that match a pattern, rising.

    Panels ask for folders of thousands of files in Blender's own thread, and making a path of each name takes most of
    the time.
    """
    if not folder.is_dir():
        return []
    return sorted(int(match.group(1)) for match in map(pattern.fullmatch, os.listdir(folder)) if match)


def model_path(cache: Path, key: str) -> Path:
    """Returns the file of a body's tets."""
    return cache / MODEL_FOLDER / f"{key}.npz"


def pass_path(cache: Path, number: int) -> Path:
    """Returns the cache of a pass after the first one."""
    return cache / f"pass-{number}"


def pass_paths(cache: Path) -> list[Path]:
    """Returns the caches of passes after the first one that a cache has in it."""
    return sorted(path for path in cache.glob("pass-*") if path.is_dir() and _PASS_NAME.fullmatch(path.name))


def is_pass_name(name: str) -> bool:
    """Whether a folder inside of a cache has the name of the cache of a pass."""
    return _PASS_NAME.fullmatch(name) is not None


def selected_path(cache: Path, number: int) -> Path:
    """Returns the cache of bodies that are baked after the others of a cache, which follow these."""
    return cache / f"selected-{number}"


def selected_paths(cache: Path) -> list[Path]:
    """Returns the caches of bodies that were baked after the others of a cache, from the first to the last."""
    found = (path for path in cache.glob("selected-*") if path.is_dir() and is_selected_name(path.name))
    return sorted(found, key=selected_number)


def selected_number(path: Path) -> int:
    """Returns the number in the name of such a cache."""
    return int(path.name.rpartition("-")[2])


def is_selected_name(name: str) -> bool:
    """Whether a folder inside of a cache has the name of the cache of bodies that were baked after the others."""
    return _SELECTED_NAME.fullmatch(name) is not None


def inner_cache(cache: Path) -> Path:
    """Returns where a cache is inside of that of the whole bake: "pass-2/selected-1", or "." for the cache itself."""
    found = Path()
    while is_pass_name(cache.name) or is_selected_name(cache.name):
        found, cache = Path(cache.name) / found, cache.parent
    return found


def preroll_path(cache: Path, key: str) -> Path:
    """Returns the file of a body's render positions in the pre-roll."""
    return cache / PREROLL_FOLDER / f"{key}.npz"


def wrap_path(cache: Path, key: str) -> Path:
    """Returns the file of the motion of a body's Wrap."""
    return cache / WRAP_FOLDER / f"{key}.pc2"


def play_path(cache: Path, key: str) -> Path:
    """Returns the file of a body's render positions."""
    return cache / relative_play_path(key)


def relative_play_path(key: str) -> str:
    """Returns the path of a body's render positions relative to the cache."""
    return f"{PLAY_FOLDER}/{key}.pc2"


def result_paths(cache: Path, key: str) -> tuple[Path, Path]:
    """Returns the files of a body's final mesh and its motion."""
    return cache / RESULT_FOLDER / f"{key}.npz", cache / RESULT_FOLDER / f"{key}.pc2"


def live_start_path(folder: Path, key: str) -> Path:
    """Returns the file of what a body would begin as, if a bake began as a live run is now."""
    return folder / LIVE_FOLDER / f"{key}{LIVE_START_ENDING}"


def live_restart_path(cache: Path, step: int) -> Path:
    """Returns the file from which the live run of a cache can be repeated after so many steps."""
    return cache / LIVE_FOLDER / f"{step:06d}{LIVE_RESTART_ENDING}"


def live_restart_steps(cache: Path) -> list[int]:
    """Returns after how many steps the live run of a cache has such files, rising."""
    found = (_RESTART_NAME.fullmatch(path.name) for path in (cache / LIVE_FOLDER).glob(f"*{LIVE_RESTART_ENDING}"))
    return sorted(int(match.group(1)) for match in found if match)


def newest_live_restart(cache: Path, step: int) -> int | None:
    """Returns the last of these that is no later than a number of steps; None: there is none."""
    return max((each for each in live_restart_steps(cache) if each <= step), default=None)


def live_samples_path(folder: Path, key: str, generation: int) -> Path:
    """Returns the file of the samples of a body in a folder "live", since so many cuts of any body."""
    return folder / (f"{key}@{generation}.pc2" if generation else f"{key}.pc2")


def live_mesh_path(folder: Path, key: str, generation: int) -> Path:
    """Returns the file of the mesh that such samples of a torn body are of."""
    return folder / f"{key}@{generation}.npz"


def live_generations(folder: Path, key: str) -> list[int]:
    """Returns the numbers of cuts from which on a body has other samples in a folder "live", rising."""
    found = (_TORN_NAME.fullmatch(path.name) for path in folder.glob("*.pc2"))
    return sorted(int(match.group(2)) for match in found if match and match.group(1) == key)


def attribute_path(cache: Path, key: str, frame: int) -> Path:
    """Returns the file of a body's attributes at a frame."""
    return cache / ATTRIBUTE_FOLDER / key / f"{frame:06d}.ply"


def dust_path(cache: Path, key: str, frame: int) -> Path:
    """Returns the file of a body's dust at a frame."""
    return cache / DUST_FOLDER / key / f"{frame:06d}.ply"


def dust_frames(cache: Path, key: str) -> list[int]:
    """Returns the frames with dust of a body, rising."""
    return _numbers(cache / DUST_FOLDER / key, _ATTRIBUTES_NAME)


def attribute_frames(cache: Path, key: str) -> list[int]:
    """Returns the frames with attributes of a body, rising."""
    return _numbers(cache / ATTRIBUTE_FOLDER / key, _ATTRIBUTES_NAME)


def is_sinew_file(relative: Path) -> bool:
    """Whether a path inside a cache folder has one of Sinew's names."""
    name = relative.name.removesuffix(PART_SUFFIX)
    folder = relative.parts[:-1]
    for is_cache_name in (is_pass_name, is_selected_name):
        if folder and is_cache_name(folder[0]):
            folder = folder[1:]
    if folder and folder[0] in (SCENE_FOLDER + PART_SUFFIX, SCENE_FOLDER + OLD_SUFFIX):
        folder = (SCENE_FOLDER, *folder[1:])
    if not folder:
        return name in (METADATA_FILE, LOCK_FILE, LOG_FILE, REPORT_FILE, START_OVER_MARK, RESUME_MARK)
    if folder == (SCENE_FOLDER,):
        return name in ("scene.json", "arrays.npz", SETTINGS_FILE, BODY_SETTINGS_FILE)
    if folder == (SCENE_FOLDER, "tracks"):
        return name == "complete"
    if folder[:2] == (SCENE_FOLDER, "tracks") and len(folder) == 3:
        stem = name.removesuffix(".npz")
        return name == "track.json" or stem.isdigit()
    if "/".join((*folder, name)) in (METADATA_COPY, RESUME_LIST):
        return True
    if folder in ((FRAME_FOLDER,), (RESUME_FOLDER,), (TOPOLOGY_FOLDER,), (CONTACT_FOLDER,)):
        return _NUMBERED_NAME.fullmatch(name) is not None
    if folder[:1] in ((ATTRIBUTE_FOLDER,), (DUST_FOLDER,)) and len(folder) == 2:
        return is_key(folder[1]) and _ATTRIBUTES_NAME.fullmatch(name) is not None
    if folder == (LIVE_FOLDER,) and (name in LIVE_FILES or _RESTART_NAME.fullmatch(name)):
        return True
    torn = _TORN_NAME.fullmatch(name)
    if folder == (LIVE_FOLDER,) and torn is not None:
        return is_key(torn.group(1))
    endings: dict[tuple[str, ...], tuple[str, ...]] = {
        (LIVE_FOLDER,): (".pc2", LIVE_SHAPES_ENDING, LIVE_START_ENDING),
        (MODEL_FOLDER,): (".npz",),
        (PLAY_FOLDER,): (".pc2",),
        (PREROLL_FOLDER,): (".npz",),
        (WRAP_FOLDER,): (".pc2",),
        (RESULT_FOLDER,): (".npz", ".pc2"),
    }
    stem, dot, ending = name.rpartition(".")
    return is_key(stem) and dot + ending in endings.get(folder, ())
