# SPDX-License-Identifier: GPL-3.0-or-later
"""The state of the add-on between two calls by Blender: the running bake, messages for the panels, a save under way.

None of it is in Blender's data, so undo, redo and deleted objects cannot touch it: scenes and objects are looked up
anew, by session id and by key, whenever they are needed. Blender calls handlers, timers, operators and panels with
nothing of ours, so they all use the one `session` of this module.
"""

from __future__ import annotations

import queue
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread
from typing import Any

import bpy

from ...solver.runtime.arrays import Floats
from ..cache import cache_folder_status
from ..cache.takes import Take
from ..evaluation import geometry_update_counter
from ..runtime.memo import clear_results
from .bake_driver import BakeDriver
from .baked_bone import BakedBone
from .check_process import CheckProcess, CheckResult
from .crack_search import CrackSearch
from .fibre_search import FibrePreview, FibreSearch
from .live_state import LiveRun


@dataclass
class RunningBake:
    """One running bake of one scene.

    Attributes:
        scene_uid: Session id of the scene.
        folder: Of the cache, that of the pass which is baked.
        driver: What lets it go on.
        bake_folder: Of the whole bake; None: `folder`.
        pass_number: The pass that is baked where the scene has several, or None.
        following: The bake of the next pass, once it has begun.
        on_done: Begins the next pass, and returns its bake if there is one.
        on_empty: Takes back what was changed for it in the scene where it ends without any frame.
        chosen: Session ids of the only bodies that are baked, while the others move as they are baked; None: all.
        is_dropped: Whether it was one of chosen bodies that did not come to its end, and was deleted.
        is_played: Whether Play has begun it, so that it goes on only while the animation plays.
        is_kept_run: Whether it repeats a live run that is kept.
        only_cuts: Whether it bakes no frames, and only cuts meshes of broken bodies.
        is_shown: Whether the bodies play its frames.
        cracked_bodies: Keys of the bodies that have cracked by the last frame.
        playhead: The frame to which it moved the playhead last, or None.
        is_playhead_taken: Whether the artist has moved or played since, so that the playhead stays.
        driven: The bones that its bodies drive, once it has frames.
    """

    scene_uid: int
    folder: Path
    driver: BakeDriver
    only_cuts: bool = False
    is_shown: bool = False
    cracked_bodies: frozenset[str] = frozenset()
    playhead: int | None = None
    is_playhead_taken: bool = False
    bake_folder: Path | None = None
    pass_number: int | None = None
    following: RunningBake | None = None
    on_done: Callable[[], RunningBake | None] = lambda: None
    on_empty: Callable[[bpy.types.Scene], None] = lambda _: None
    chosen: frozenset[int] | None = None
    is_dropped: bool = False
    is_played: bool = False
    is_kept_run: bool = False
    driven: list[BakedBone] | None = None

    @property
    def latest(self) -> RunningBake:
        """The bake of the last pass that has begun."""
        return self if self.following is None else self.following.latest


@dataclass
class FrameSolve:
    """A frame that is being solved.

    Attributes:
        scene_uid: Session id of the scene.
        folder: Of the cache.
        driver: What lets it go on.
        frame, subframe: The frame.
        remapped_frame: The same in Blender's remapped time.
        bodies: Session ids of the bodies, by their keys.
        started: When it began [s].
        rest: Render vertices in the rest pose [m], world, by the keys of bodies, once these are read; (n, 3) each.
    """

    scene_uid: int
    folder: Path
    driver: BakeDriver
    frame: int
    subframe: float
    remapped_frame: float
    bodies: dict[str, int]
    started: float
    rest: dict[str, Floats] = field(default_factory=dict)


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


MAX_PLACES = 10  # of a note that are shown


@dataclass(frozen=True)
class Note:
    """Something to know about a bake.

    Attributes:
        line: The sentence and the next step.
        measured: The numbers behind it, or "".
        places: Where it is about [m], (k, 3).
        is_minor: Whether nobody has to act on it where the result looks right.
    """

    line: str
    measured: str = ""
    places: tuple[tuple[float, ...], ...] = ()
    is_minor: bool = False


@dataclass
class SceneMessages:
    """What the panel says about the last bake of a scene.

    Attributes:
        notes: Warnings about the input when it began.
        warnings: What the solver warned about since.
        failure: Why it, or the last operator, failed.
    """

    notes: list[Note] = field(default_factory=list)
    warnings: list[Note] = field(default_factory=list)
    failure: Failure | None = None

    @property
    def all_notes(self) -> list[Note]:
        """Notes and warnings."""
        return [*self.notes, *self.warnings]

    @property
    def lines(self) -> list[str]:
        """What they say."""
        return [note.line for note in self.all_notes]


@dataclass(frozen=True)
class ShownHint:
    """A hint that a panel has shown: its sentence, and the number of its buttons."""

    sentence: str
    buttons: int


@dataclass(frozen=True)
class MovedTake:
    """A take that does not play, moved at the first save of its file.

    Attributes:
        scene_uid: Session id of its scene.
        take: As it was before.
        folder: Where it is now.
    """

    scene_uid: int
    take: Take
    folder: Path


@dataclass
class PendingSave:
    """Values to restore if the file does not stay at the place that it is written to: Save Copy, or a failure.

    Attributes:
        target: The absolute path that is written, or "".
        paths: Path properties of scenes, by session id and name.
        object_files: Files that objects name, by session id and setting.
        attributes: Paths of attribute files, as `attribute_modifier.restore_paths` takes them.
        moved_takes: Takes that were moved from the temporary folder.
    """

    target: str
    paths: dict[int, dict[str, object]] = field(default_factory=dict)
    object_files: dict[tuple[int, str], str] = field(default_factory=dict)
    attributes: dict[str, tuple[str, str]] = field(default_factory=dict)
    moved_takes: list[MovedTake] = field(default_factory=list)


class AddonSession:
    """The state of the add-on in this Blender; `clear` when another file is open and when the add-on is turned off.

    Attributes:
        bake: The bake that runs, or None.
        scenes_due: Session ids of scenes whose bake has ended and has no undo step yet.
        pending_save: The save that Blender has begun and not ended, or None.
        final_paths: Part file → the path that it will be renamed to.
        is_rebasing_paths: Whether paths are changed for another place of the .blend, which attaches nothing.
        shown_progress: What the panels said of the running bake when they were drawn last.
        shown_hints: Hints that panels have shown of one object, by their keys, and session id of the object.
        fibre_search: The process that finds fibres of muscles, or None.
        fibre_previews: The fibres that were found, by session id of the scene and key of the muscle.
        check: The process that looks through a scene, or None.
        check_results: What was found last, by session id of the scene.
        frame_solve: The frame that is being solved without a bake, or None.
        crack_search: The process that finds the cracks of a body at one hit, or None.
        live: The run that goes on, or None.
        last_live: The last run, which has ended and can be kept, or None.
        played_scene: Session id of the scene whose animation plays, where playing simulates; or None.
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
        self.shown_hints: tuple[int, dict[str, ShownHint]] = (0, {})
        self.fibre_search: FibreSearch | None = None
        self.fibre_previews: dict[tuple[int, str], FibrePreview] = {}
        self.check: CheckProcess | None = None
        self.check_results: dict[int, CheckResult] = {}
        self.frame_solve: FrameSolve | None = None
        self.crack_search: CrackSearch | None = None
        self.live: LiveRun | None = None
        self.last_live: LiveRun | None = None
        self.played_scene: int | None = None
        self._messages: dict[int, SceneMessages] = {}

    def is_baking(self, scene: bpy.types.Scene) -> bool:
        """Whether this Blender bakes `scene`."""
        return self.bake is not None and self.bake.scene_uid == scene.session_uid

    def cancel(self) -> None:
        """Asks the running bake to stop; what it has baked so far stays."""
        if self.bake is not None:
            self.bake.driver.cancel()

    def end_fibre_search(self) -> None:
        """Ends the process that finds fibres, if there is one."""
        search, self.fibre_search = self.fibre_search, None
        if search is not None:
            search.close()

    def end_check(self) -> None:
        """Ends the process that looks through a scene, if there is one."""
        check, self.check = self.check, None
        if check is not None:
            check.close()

    def end_crack_search(self) -> None:
        """Ends the process that finds cracks, if there is one."""
        search, self.crack_search = self.crack_search, None
        if search is not None:
            search.close()

    def end_frame_solve(self) -> None:
        """Ends the process that solves a frame, if there is one."""
        solve, self.frame_solve = self.frame_solve, None
        if solve is not None:
            solve.driver.close()
            shutil.rmtree(solve.folder, ignore_errors=True)

    def end_live(self) -> None:
        """Ends the live run, if there is one, without waiting; what it did can be kept until the next begins."""
        run, self.live = self.live, None
        if run is not None:
            run.close()
            run.driver.let_go()
            self.forget_last_live()
            self.last_live = run

    def forget_last_live(self) -> None:
        """Lets a thread delete the last run."""
        run, self.last_live = self.last_live, None
        if run is not None:
            Thread(target=run.delete, name="Sinew live run's end").start()

    def close_live(self) -> None:
        """Ends the live run and deletes it now, and waits for both: there may be no thread when Blender ends."""
        for run in (self.live, self.last_live):
            if run is not None:
                run.close()
                run.driver.close()
                run.delete()
        self.live = self.last_live = None

    def close(self) -> None:
        """Ends what runs now: another file is loaded, the add-on is turned off, or Blender ends."""
        self.end_fibre_search()
        self.end_check()
        self.end_crack_search()
        self.end_frame_solve()
        self.close_live()
        if self.bake is not None:
            bake, self.bake = self.bake, None
            bake.driver.close()
            cache_folder_status.invalidate()

    def messages(self, scene: bpy.types.Scene) -> SceneMessages:
        """Returns what the panel says about the last bake of `scene`."""
        return self._messages.setdefault(scene.session_uid, SceneMessages())

    def hints_of(self, object_uid: int) -> dict[str, ShownHint]:
        """Returns the hints that panels have shown of an object since it is the one that is looked at."""
        if self.shown_hints[0] != object_uid:
            self.forget_hints(object_uid)
        return self.shown_hints[1]

    def forget_hints(self, object_uid: int = 0) -> None:
        """Forgets the hints that were shown: another object is looked at, or a bake begins."""
        self.shown_hints = (object_uid, {})

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
        self.fibre_previews.clear()
        self.check_results.clear()
        self.scenes_due.clear()
        self.pending_save = None
        self.played_scene = None
        self.shown_progress = None
        self.forget_hints()
        clear_results()
        geometry_update_counter.changes.clear()


session = AddonSession()
