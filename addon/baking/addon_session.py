# SPDX-License-Identifier: GPL-3.0-or-later
"""The state of the add-on between two calls by Blender: the running bake, messages for the panels, a save under way.

None of it is in Blender's data, so undo, redo and deleted objects cannot touch it: scenes and objects are looked up
anew, by session id and by key, whenever they are needed. Blender calls handlers, timers, operators and panels with
nothing of ours, so they all use the one `session` of this module.
"""

from __future__ import annotations

import queue
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import bpy

from ..cache import cache_folder_status
from ..evaluation import geometry_update_counter
from ..runtime.memo import clear_results
from .bake_driver import BakeDriver


@dataclass
class RunningBake:
    """One running bake of one scene."""

    scene_uid: int
    folder: Path
    driver: BakeDriver
    only_cuts: bool = False
    is_shown: bool = False
    cracked_bodies: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Failure:
    """The last failure of a scene.

    Attributes:
        line: The message.
        kind: Its kind in `error_messages.TEXTS`, or "".
        name: Of its object, or "".
        stamp: Of the refused input, which may be valid once the stamp changes; None for failures that stay.
    """

    line: str
    kind: str = ""
    name: str = ""
    stamp: str | None = None


@dataclass
class SceneMessages:
    """What the panel says about the last bake of a scene.

    Attributes:
        notes: Warnings about the input when it began.
        warnings: What the solver warned about since.
        failure: Why it, or the last operator, failed.
    """

    notes: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    failure: Failure | None = None

    @property
    def lines(self) -> list[str]:
        """Notes and warnings."""
        return [*self.notes, *self.warnings]


@dataclass
class PendingSave:
    """Values to restore if the file does not stay at the place that it is written to: Save Copy, or a failure.

    Attributes:
        target: The absolute path that is written, or "".
        paths: Path properties of scenes, by session id and name.
        tet_files: Tet files of objects, by session id.
        attributes: Paths of attribute files, as `attribute_playback.restore_paths` takes them.
    """

    target: str
    paths: dict[int, dict[str, object]] = field(default_factory=dict)
    tet_files: dict[int, str] = field(default_factory=dict)
    attributes: dict[str, tuple[str, str]] = field(default_factory=dict)


class AddonSession:
    """The state of the add-on in this Blender; `clear` when another file is open and when the add-on is turned off.

    Attributes:
        bake: The bake that runs, or None.
        scenes_due: Session ids of scenes whose bake has ended and has no undo step yet.
        pending_save: The save that Blender has begun and not ended, or None.
        final_paths: Part file → the path that it will be renamed to.
        is_rebasing_paths: Whether paths are changed for another place of the .blend, which attaches nothing.
        shown_progress: What the panels said of the running bake when they were drawn last.
        rendered_frames: Session ids of scenes, and frames that a render has begun in its own thread.
    """

    def __init__(self) -> None:
        self.bake: RunningBake | None = None
        self.scenes_due: set[int] = set()
        self.pending_save: PendingSave | None = None
        self.final_paths: dict[str, str] = {}
        self.is_rebasing_paths = False
        self.shown_progress: Any = None
        self.rendered_frames: queue.SimpleQueue[tuple[int, int]] = queue.SimpleQueue()
        self._messages: dict[int, SceneMessages] = {}

    def is_baking(self, scene: bpy.types.Scene) -> bool:
        """Whether this Blender bakes `scene`."""
        return self.bake is not None and self.bake.scene_uid == scene.session_uid

    def cancel(self) -> None:
        """Asks the running bake to stop; what it has baked so far stays."""
        if self.bake is not None:
            self.bake.driver.cancel()

    def close(self) -> None:
        """Ends the running bake now: another file is loaded, the add-on is turned off, or Blender ends."""
        if self.bake is not None:
            bake, self.bake = self.bake, None
            bake.driver.close()
            cache_folder_status.invalidate()

    def messages(self, scene: bpy.types.Scene) -> SceneMessages:
        """Returns what the panel says about the last bake of `scene`."""
        return self._messages.setdefault(scene.session_uid, SceneMessages())

    def forget_messages(self, scene: bpy.types.Scene) -> None:
        """Lets the panel say nothing about the last bake of `scene`."""
        self._messages.pop(scene.session_uid, None)

    @contextmanager
    def rebasing_paths(self) -> Iterator[None]:
        """Allows changes of paths without attaching the bodies again.

        A path that is right as seen from the place that the .blend is about to get is wrong as seen from the present
        one, so the property's callback cannot tell from the folder whether it changed.
        """
        self.is_rebasing_paths = True
        try:
            yield
        finally:
            self.is_rebasing_paths = False

    def clear(self) -> None:
        """Forgets all about the open file; the bake has been closed before."""
        self._messages.clear()
        self.scenes_due.clear()
        self.pending_save = None
        self.shown_progress = None
        clear_results()
        geometry_update_counter.changes.clear()


session = AddonSession()
