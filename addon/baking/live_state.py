# SPDX-License-Identifier: GPL-3.0-or-later
"""A live run between two calls by Blender: its process, its files, and what was seen and sent last."""

from __future__ import annotations

import shutil
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import numpy.typing as npt

from ...solver.bake.cache import CacheLock
from ...solver.live.collider_shapes import ColliderShapesWriter
from ...solver.live.live_steps import KeptFrames
from ...solver.live.sample_files import SampleReader
from ...solver.runtime.arrays import Floats
from ..blender_data.object_handle import ObjectHandle
from ..fracture_meshes.broken_mesh_values import BrokenMeshValues
from ..fracture_meshes.source_mesh_arrays import SourceMesh
from .bake_driver import BakeDriver

MAX_LOADS = 10  # that are remembered of a run
MAX_COUNTS = 11  # likewise, of unsettled steps: over five seconds


@dataclass(frozen=True, eq=False)
class HandledInput:
    """An input of the scene that the artist may change while it runs.

    Attributes:
        track: Its name in the solver.
        owner: The object that has it, or None: the scene.
        what: How `handled_inputs.py` reads it.
        of: What of it: the name of a setting, or of a bone.
        factor: World [m] in the rest pose ← the space of a bone, by which its present matrix is multiplied from the
            right; None: as it is, (4, 4).
    """

    track: str
    owner: ObjectHandle | None
    what: str
    of: str = ""
    factor: Floats | None = None


@dataclass
class DeformingShape:
    """A collider whose mesh may change its shape.

    Attributes:
        key: In files.
        owner: The object.
        count: Of its vertices.
        sent: Vertices that were sent last [m], world, (n, 3); None: none since the run began.
        count_now: Of its vertices at the last look.
    """

    key: str
    owner: ObjectHandle
    count: int
    sent: npt.NDArray[np.float32] | None = None
    count_now: int | None = None


@dataclass(frozen=True, eq=False)
class DrivenBone:
    """A bone that a rigid body drives, as the run began.

    Attributes:
        body: Key of the body.
        rig, bone: The armature, and the name of the bone.
        bone_matrix: World ← bone [Blender units], (4, 4).
        body_matrix: World ← the object of the body, the same units, (4, 4).
        points: Some vertices of the body, world [Blender units], (k, 3).
        stride: Every so many vertices are these.
    """

    body: str
    rig: ObjectHandle
    bone: str
    bone_matrix: Floats
    body_matrix: Floats
    points: Floats
    stride: int


@dataclass
class Grab:
    """A place of a body that is pulled.

    Attributes:
        body: Key of the body.
        vertex: The vertex that was under the mouse.
        hand: Where it is pulled to, world [Blender units], (3,).
        generation: Of the mesh that numbers the vertex, as the samples count them.
        point: Where the vertex was seen last, the same units, (3,).
        is_pin: Whether it stays when the mouse lets go.
        strength: Factor on the stiffness of its spring.
    """

    body: str
    vertex: int
    hand: Floats
    generation: int
    point: Floats
    is_pin: bool = False
    strength: float = 1.0


@dataclass(frozen=True, eq=False)
class HeldBrush:
    """A brush that is held: what it does, where in the world, and its radius [Blender units]."""

    kind: str
    place: Floats
    radius: float


@dataclass
class TornMeshReader:
    """A thread that reads the mesh of a torn body, while Blender goes on.

    Attributes:
        generation: Of the mesh.
        thread: It.
        values: What it has found.
        problem: Why it has found nothing.
    """

    generation: int
    thread: Thread | None = None
    values: BrokenMeshValues | None = None
    problem: Exception | None = None


@dataclass
class BreakableBody:
    """A body that may tear, and its mesh since its last tear.

    Attributes:
        source: Its render mesh as a run has it, without materials.
        material_uids: Session ids of the materials in its slots; 0: none.
        to_object: Object space [Blender units] ← world [m], where the run began, (4, 4).
        is_mirrored: Whether its polygons were reversed for the solver.
        generation: Of the mesh; 0: it is whole.
        values: The mesh, or None while it is whole.
        is_shown: Whether the mesh is seen.
        reader: Reads the next mesh, or None.
        unreadable: A generation whose mesh cannot be read; 0: none.
    """

    source: SourceMesh
    material_uids: list[int]
    to_object: Floats
    is_mirrored: bool
    generation: int = 0
    values: BrokenMeshValues | None = None
    is_shown: bool = False
    reader: TornMeshReader | None = None
    unreadable: int = 0


@dataclass
class LiveRun:
    """A run of a scene.

    Attributes:
        scene_uid: Session id of the scene.
        frame: At which it began.
        folder: Of its cache, in Blender's temporary folder.
        driver: What lets it go on.
        bodies: The objects, by their keys.
        lock: Of the folder around that of the cache.
        played_counts: How many vertices the objects play, by key.
        inputs: What may be changed, once it is known.
        sent: Values that were sent last, by the names of tracks.
        shapes: The colliders that may change their shape.
        shapes_writer: Of these, once the scene is written.
        driven: The bones that bodies drive, once the scene is written.
        channels: Location, rotation and scale of what may be moved, as they were sent last: by the names of objects,
            values by data path.
        first_channels: The same at the beginning.
        kept: Names of what Keep has put into the scene of what the hand did.
        kept_frames: In these frames, or None.
        reader: Of the samples, once there are some.
        step: That is shown; −1: none yet.
        seconds: Of the scene, up to that step.
        status: The last `live` event.
        tets: Of all bodies, or None before they are known.
        body_tets: Of each body, by key.
        is_preview: Whether any body has Preview Tets.
        loads: Seconds that a second of the scene took lately, half a second each.
        real_time_tets: About how many tets would keep up with the clock, or None: not known yet.
        offered_tets: About how many tets, of those that bodies can have, come nearest to that; None as above.
        unsettled_counts: How many steps there were at the last events, and in how many of all contacts did not settle.
        has_trembled: Whether so many of the steps between these were unsettled that it may be seen.
        is_paused: Whether it was told to hold.
        held_at: The step at which it holds, or None.
        begun_with: Values of settings that it has read at its beginning alone, by the names of object and setting.
        note: What the child has warned about last, or "".
        is_ended_by_undo: Whether an undo step has ended it.
        later: What acts from the next run on, or a collider that keeps its last shape, or "".
        grabs: What is pulled, by number.
        brush: What is held on them, or None.
        last_grab: The number of the last grab.
        breakable: Bodies that may tear, by their keys.
        moved: Bodies whose modifier the run has moved below Subdivision, as a bake does.
        left_collections: Bodies that the run has taken out of Blender's rigid body worlds, with the session ids of the
            collections that they were in.
        is_shown: Whether the bodies play its samples.
        is_hidden: Whether nothing is shown, since the file is being saved.
        hints: What the status bar says, by the names of workspaces.
        starts_step: The step of which it has written starts since it was asked, or None.
        torn_steps: After how many steps each body was seen torn first, by key.
        seen_frame: The frame of the scene at the last look, or None.
    """

    scene_uid: int
    frame: int
    folder: Path
    driver: BakeDriver
    bodies: dict[str, ObjectHandle]
    lock: CacheLock
    played_counts: dict[str, int] = field(default_factory=dict)
    inputs: list[HandledInput] = field(default_factory=list)
    sent: dict[str, Floats] = field(default_factory=dict)
    shapes: list[DeformingShape] = field(default_factory=list)
    shapes_writer: ColliderShapesWriter | None = None
    driven: list[DrivenBone] = field(default_factory=list)
    channels: dict[str, dict[str, list[float]]] = field(default_factory=dict)
    first_channels: dict[str, dict[str, list[float]]] = field(default_factory=dict)
    kept: tuple[str, ...] = ()
    kept_frames: KeptFrames | None = None
    reader: SampleReader | None = None
    step: int = -1
    seconds: float = 0.0
    status: Mapping[str, Any] = field(default_factory=dict)
    tets: int | None = None
    body_tets: Mapping[str, int] = field(default_factory=dict)
    is_preview: bool = False
    loads: deque[float] = field(default_factory=lambda: deque(maxlen=MAX_LOADS))
    real_time_tets: int | None = None
    offered_tets: int | None = None
    unsettled_counts: deque[tuple[int, int]] = field(default_factory=lambda: deque(maxlen=MAX_COUNTS))
    has_trembled: bool = False
    is_paused: bool = False
    held_at: int | None = None
    begun_with: dict[tuple[str, str], object] = field(default_factory=dict)
    note: str = ""
    is_ended_by_undo: bool = False
    later: str = ""
    grabs: dict[int, Grab] = field(default_factory=dict)
    brush: HeldBrush | None = None
    last_grab: int = 0
    breakable: dict[str, BreakableBody] = field(default_factory=dict)
    moved: list[ObjectHandle] = field(default_factory=list)
    left_collections: list[tuple[ObjectHandle, set[int]]] = field(default_factory=list)
    is_shown: bool = False
    is_hidden: bool = False
    hints: dict[str, str] = field(default_factory=dict)
    starts_step: int | None = None
    torn_steps: dict[str, int] = field(default_factory=dict)
    seen_frame: float | None = None

    @property
    def is_moving(self) -> bool:
        """Whether samples come."""
        return self.step >= 0 and self.driver.job.is_running

    def send(self, command: Mapping[str, Any]) -> None:
        """Sends a command to the child, which reads at any time."""
        self.driver.send(command)

    def close(self) -> None:
        """Lets the files of the samples go."""
        if self.reader is not None:
            self.reader.close()
            self.reader = None

    def delete(self) -> None:
        """Deletes what it has left, once its child has ended."""
        self.close()
        self.driver.wait_for_end()
        self.lock.release()
        shutil.rmtree(self.folder.parent, ignore_errors=True)
