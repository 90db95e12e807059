# SPDX-License-Identifier: GPL-3.0-or-later
"""The request for a bake, the arguments of its child process, and the frame from which it goes on."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bpy

from ...solver.bake.cache import has_bake, layout
from ...solver.runtime.errors import StorageFailed
from ..cache import cache_folder_status, cache_paths
from ..properties import preferences


@dataclass(frozen=True)
class BakeRequest:
    """How a bake is asked for.

    Attributes:
        resume: Whether to go on with the bake that is there.
        from_frame: With `resume`: from this frame or the last one before it that allows it; None: from the end.
        accepts_changes: With `resume`: also when the scene has changed since.
        folder: Instead of the scene's own.
        threads: Instead of the preferences'.
        only_cuts: Whether only to cut the mesh of what broke, of the frames that are there.
        strict: Whether a step that does not converge stops the bake.
        bake_pass: The only pass to bake; None: all that are missing or out of date, or else all.
        chosen: Session ids of the only bodies to bake, while the others move as they are baked; None: all bodies.
        is_played: Whether Play has begun it (play_simulates.py).
        on_event: Called with each event that the child says.
    """

    resume: bool = False
    from_frame: int | None = None
    accepts_changes: bool = True
    folder: Path | None = None
    threads: int | None = None
    only_cuts: bool = False
    strict: bool = False
    bake_pass: int | None = None
    chosen: frozenset[int] | None = None
    is_played: bool = False
    on_event: Callable[[Mapping[str, Any]], None] | None = None


DEFAULT_REQUEST = BakeRequest()


def child_arguments(folder: Path, request: BakeRequest) -> list[str]:
    """Returns what the child is told to do in a cache folder."""
    if request.only_cuts:
        return ["finish", str(folder), "--child", "--json"]
    words = ["simulate", str(folder), "--child", "--json"]
    words += ["--resume"] if request.resume else []
    words += ["--accept-changes"] if request.resume and request.accepts_changes else []
    words += ["--from-frame", str(request.from_frame)] if request.resume and request.from_frame is not None else []
    words += ["--strict"] if request.strict else []
    threads = request.threads or preferences.threads()
    return words + (["--threads", str(threads)] if threads else [])


def make_resumable(scene: bpy.types.Scene, request: BakeRequest, folder: Path) -> int | None:
    """Returns the frame to go on from in a cache folder; a bake that belongs to another file is copied first."""
    copy_borrowed(scene, request)
    return cache_folder_status.read_status(folder).resume_frame(request.from_frame)


def copy_borrowed(scene: bpy.types.Scene, request: BakeRequest) -> None:
    """Copies a bake that belongs to another file to where this file bakes, which has none."""
    present, own = cache_paths.cache_folder(scene), cache_paths.own_folder(scene)
    if request.folder is None and present != own and has_bake(present) and not has_bake(own):
        try:
            shutil.copytree(present, own, dirs_exist_ok=True, ignore=shutil.ignore_patterns(layout.LOCK_FILE))
        except (OSError, shutil.Error) as problem:
            raise StorageFailed("disk-failed", path=str(own), problem=str(problem)) from problem
        cache_folder_status.invalidate()
