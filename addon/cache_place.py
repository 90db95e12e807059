# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the cache of a scene lies: beside its .blend, or in a folder of its own until the file is saved."""

from __future__ import annotations

import re
import tempfile
import uuid
from pathlib import Path

import bpy

SUFFIX = ".sinew"

# one for this run of Blender: two unsaved files in two Blenders never share a folder
_run = uuid.uuid4().hex[:12]


def cache_folder(scene: bpy.types.Scene) -> Path:
    """Returns the absolute path of the cache of `scene`, whether it is there or not."""
    if scene.sinew.cache_path:
        return Path(bpy.path.abspath(scene.sinew.cache_path.replace("\\", "/"))).resolve()
    return home(bpy.data.filepath) / folder_name(scene, bpy.data.filepath)


def folder_name(scene: bpy.types.Scene, blend: str) -> str:
    """Returns "NAME.sinew": the .blend's name, the scene's where there are several, and the take."""
    parts = [Path(blend).stem if blend else "untitled"]
    if scene.name != first_scene().name:
        parts.append(scene.name)
    if scene.sinew.take.strip():
        parts.append(scene.sinew.take.strip())
    return "-".join(_file_name(part) for part in parts) + SUFFIX


def home(blend: str) -> Path:
    """Returns the folder that caches lie in: that of the .blend, or a temporary one of an unsaved file."""
    return Path(blend).resolve().parent if blend else temporary_home()


def temporary_home() -> Path:
    """Returns the folder for the caches of an unsaved file; it outlives Blender's own temporary folder."""
    return Path(bpy.app.tempdir or tempfile.gettempdir()).parent / f"sinew-unsaved-{_run}"


def first_scene() -> bpy.types.Scene:
    """Returns the scene whose cache has the plain name: the first one that is not linked."""
    return next((scene for scene in bpy.data.scenes if scene.library is None), bpy.data.scenes[0])


def _file_name(text: str) -> str:
    """Returns `text` without what some operating system forbids in file names."""
    return re.sub(r'[<>:"/\\|?*\x00-\x1f]', "_", text).strip(" .") or "_"
