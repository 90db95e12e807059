# SPDX-License-Identifier: GPL-3.0-or-later
"""The path of a scene's cache: beside its .blend, or in a temporary folder until the file is saved.

The next bake goes to the *own* folder, named by the .blend and the take, or by the artist. The *present* bake may be
elsewhere: after Save As it still belongs to the previous .blend. This file then plays it, and never writes or deletes
it.
"""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path, PurePath

import bpy

from ...solver.bake.cache import has_bake
from ..blender_data.object_keys import keys_of_bodies
from . import cache_folder_status
from .temporary_folders import temporary_folders

SUFFIX = ".sinew"


def own_folder(scene: bpy.types.Scene) -> Path:
    """Returns the absolute path of the folder for the next bake of `scene`."""
    if scene.sinew.cache_path:
        return absolute_path(scene.sinew.cache_path, bpy.data.filepath)
    present = _remembered_folder(scene, bpy.data.filepath)
    if present is not None and not is_borrowed(scene):
        return present
    return take_folder(scene, scene.sinew.take.strip())


def take_folder(scene: bpy.types.Scene, take: str, blend: str | None = None) -> Path:
    """Returns the folder that Sinew chooses for a take, with the scene's name where another scene has the plain one.

    `blend` is another place than that of the open file, to which it is about to be saved.
    """
    blend = bpy.data.filepath if blend is None else blend
    taken = {_remembered_folder(other, blend) for other in bpy.data.scenes if other != scene and not is_borrowed(other)}
    plain = default_folder(scene, blend, take=take)
    is_free = plain not in taken and not _has_bodies_of_another(scene, plain)
    return plain if is_free else default_folder(scene, blend, scene.name, take)


def _has_bodies_of_another(scene: bpy.types.Scene, folder: Path) -> bool:
    """Whether a folder is a take that another scene keeps and does not play: it has bodies of that one alone."""
    others = [other for other in bpy.data.scenes if other != scene and other.library is None]
    head = cache_folder_status.read_status(folder).metadata if others and has_bake(folder) else None
    if head is None:
        return False
    baked, keys = {body.key for body in head.bodies}, keys_of_bodies()
    own, *theirs = ({keys[obj] for obj in each.objects if obj in keys} for each in (scene, *others))
    return not baked & own and any(baked & bodies for bodies in theirs)


def cache_folder(scene: bpy.types.Scene) -> Path:
    """Returns the folder of the present bake, or the own folder without one."""
    own = own_folder(scene)
    return own if has_bake(own) else _remembered_folder(scene, bpy.data.filepath) or own


def remember_bake(scene: bpy.types.Scene, folder: Path, borrowed: bool = False, blend: str | None = None) -> None:
    """Stores the path of the present bake, relative to `blend`, and the path settings that it belongs to."""
    scene.sinew.baked_path = portable_path(folder, bpy.data.filepath if blend is None else blend)
    scene.sinew.baked_for = _path_settings(scene)
    scene.sinew.baked_scene = scene.name
    scene.sinew.borrowed = borrowed


def forget_bake(scene: bpy.types.Scene) -> None:
    """Forgets the present bake."""
    for name in ("baked_path", "baked_for", "baked_scene", "borrowed"):
        scene.sinew.property_unset(name)


def is_borrowed(scene: bpy.types.Scene) -> bool:
    """Whether the present bake belongs to another .blend, or to the original of a copied scene."""
    if scene.sinew.borrowed or scene.sinew.baked_scene == scene.name:
        return scene.sinew.borrowed
    return any(
        other != scene
        and other.sinew.baked_path == scene.sinew.baked_path
        and other.sinew.baked_scene == scene.sinew.baked_scene == other.name
        for other in bpy.data.scenes
    )


def _remembered_folder(scene: bpy.types.Scene, blend: str) -> Path | None:
    """Returns the path of the present bake, stored as seen from `blend`, if it exists and the take is the same."""
    stored = scene.sinew.baked_path
    if not stored or scene.sinew.baked_for != _path_settings(scene):
        return None
    there = absolute_path(stored, blend)
    # after a move to another folder or system: the same name beside the .blend
    return next((folder for folder in (there, caches_home(blend) / there.name) if has_bake(folder)), None)


def _path_settings(scene: bpy.types.Scene) -> str:
    return f"{scene.sinew.cache_path}|{scene.sinew.take.strip()}"


def absolute_path(path: str, blend: str) -> Path:
    """Returns the absolute path of a Blender path, where "//" is the folder of `blend`."""
    path = path.replace("\\", "/")
    if path.startswith("//"):
        return Path(os.path.normpath(caches_home(blend) / path[2:]))
    return Path(os.path.abspath(os.path.expanduser(path)))


def portable_path(path: PurePath, blend: str) -> str:
    """Returns a path with forward slashes: from "//", the folder of `blend`, or absolute where that is impossible."""
    if blend:
        try:
            return "//" + Path(os.path.relpath(path, Path(blend).parent)).as_posix()
        except ValueError:  # another drive of Windows
            pass
    return path.as_posix()


def default_folder(scene: bpy.types.Scene, blend: str, suffix: str = "", take: str | None = None) -> Path:
    """Returns "NAME.sinew" beside the .blend. NAME is its name and take, and the scene's name if two scenes clash.

    `take` is another take than that of the scene, "" for the one without a name.
    """
    parts = [Path(blend).stem if blend else "untitled", suffix, scene.sinew.take.strip() if take is None else take]
    return caches_home(blend) / ("-".join(file_name(part) for part in parts if part) + SUFFIX)


def caches_home(blend: str) -> Path:
    """Returns the folder for caches: that of the .blend, or a temporary one for an unsaved file."""
    return Path(os.path.abspath(blend)).parent if blend else temporary_home()


def temporary_home() -> Path:
    """Returns the folder for the caches of an unsaved file, which outlives Blender's own temporary folder."""
    chosen = bpy.context.preferences.filepaths.temporary_directory
    return Path(chosen or tempfile.gettempdir()) / temporary_folders.name


def lock_temporary_folders() -> None:
    """Locks the temporary folders that the open file plays, so that other Blenders keep them."""
    temporary_folders.lock({cache_folder(scene).parent for scene in bpy.data.scenes})


def file_name(text: str) -> str:
    """Returns `text` without characters that an operating system forbids in file names."""
    return re.sub(r'[<>:"/\\|?*\x00-\x1f]', "_", text).strip(" .") or "_"
