# SPDX-License-Identifier: GPL-3.0-or-later
"""The finishing pass over one body."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..arrays import Indices
from ..attributes.ply import ply_bytes
from ..attributes.spread import at_vertices
from ..cache import Result, layout
from ..cutting.cut import cut
from ..cutting.cut_surface import CutSurface
from ..disk import npz_bytes, sync_all, write_whole
from ..embedding import Binding
from ..errors import BadInput
from ..late_dataclass import dataclass
from ..model import rest_shapes
from ..object_space import in_object_space
from ..pc2 import WholePc2, read_samples
from ..scene import Body, Scene
from ..tracks import TrackReader
from .body_frames import BodyFrames, BodySample
from .corrections import carried_over
from .kept import attribute_name
from .moving import drawn_samples
from .opening import Opening
from .result import parting, to_arrays
from .ties import tie

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

OnProgress = Callable[[float], None]
CUT = 0.4  # share of the work that is done when a body is cut


@dataclass(frozen=True)
class FinishedBody:
    """One body that may break, while its result is made.

    Attributes:
        frames: What was baked of it.
        body, scene, tracks: What was asked for.
        on_progress: Called with the share of the work that is done; it may raise.
    """

    frames: BodyFrames
    body: Body
    scene: Scene
    tracks: TrackReader
    on_progress: OnProgress

    @property
    def folder(self) -> Path:
        """The cache."""
        return self.frames.reader.folder

    def make(self) -> Result | None:
        """Makes the final mesh, its motion and its attributes; None where there is no crack, which needs no mesh.

        Raises:
            BadInput: The render mesh cannot be cut.
        """
        self.on_progress(0.0)
        try:
            surface = self._cut() if self.frames.has_broken() else None
        except BadInput:
            self._attributes_of_whole()  # of the render mesh as it came, which is what will be shown
            raise
        if surface is None or not surface.is_broken.any():
            self._attributes_of_whole()
            return None
        self.on_progress(CUT)
        return self._move(surface)

    def _cut(self) -> CutSurface:
        mesh, body, of_triangle = self.frames.mesh, self.body, self.body.face_of_triangle
        if not len(of_triangle):
            of_triangle = np.arange(len(body.triangles), dtype=np.int32)
        final = self.frames.final()
        return cut(mesh.nodes, mesh.tets, final, body.vertices, body.triangles, of_triangle, body.name)

    def _move(self, surface: CutSurface) -> Result:
        head, baked = self.frames.reader.head, self.frames.reader.baked()
        assert baked is not None
        faces, pairs = parting(surface)
        opening = Opening(self.frames.mesh.tets, pairs)
        ties = tie(self.frames.mesh.tets, surface.rest, surface.tet, surface.weights)
        binding = Binding(surface.tet, surface.weights)
        mesh_path, motion_path = layout.result_paths(self.folder, self.body.key)
        mesh_path.parent.mkdir(exist_ok=True)
        motion = WholePc2(motion_path, len(surface.rest), head.frame_start, 1.0 / head.samples_per_frame)
        try:
            for sample, world in drawn_samples(self.frames, ties, self._corrections(surface, ties.first), opening):
                local = in_object_space(self.tracks, self.body.key, world, self._time(sample))
                motion.append(local)
                if sample.is_frame:
                    self._write_attributes(sample, binding, local)
                    self._told(sample.frame, baked)
            self._sync_attributes()
            motion.finish()
        finally:
            motion.give_up()
        arrays = to_arrays(surface, faces, opening, head, baked[1])
        write_whole(mesh_path, npz_bytes(arrays))
        return Result.of(self.body.key, self.body.name, arrays)

    def _corrections(self, surface: CutSurface, first: Indices) -> dict[str, csr_matrix]:
        size = self.frames.mesh.report.tet_size
        keys = (self.body.key, f"{self.body.key}.attached")
        found = {pins: carried_over(self.body, pins, size, surface, first) for pins in keys}
        return {pins: matrix for pins, matrix in found.items() if matrix is not None}

    def _time(self, sample: BodySample) -> float:
        return self.scene.settings.time(self.frames.reader.head.frame_of_sample(sample.number))

    def _told(self, frame: int, baked: tuple[int, int]) -> None:
        self.on_progress(CUT + (1.0 - CUT) * (frame - baked[0]) / max(baked[1] - baked[0], 1))

    def _attributes_of_whole(self) -> None:
        if not self.body.attributes:
            return
        baked = self.frames.reader.baked()
        assert baked is not None
        play = layout.play_path(self.folder, self.body.key)
        for sample in self.frames.samples():
            if sample.is_frame:
                drawn = read_samples(play, sample.number, 1)[0]
                self._write_attributes(sample, self.frames.binding, drawn)
                self._told(sample.frame, baked)
        self._sync_attributes()

    def _sync_attributes(self) -> None:
        sync_all(layout.attribute_path(self.folder, self.body.key, 0).parent)

    def _write_attributes(self, sample: BodySample, binding: Binding, drawn: npt.NDArray[np.float32]) -> None:
        key, mesh = self.body.key, self.frames.mesh
        asked = self.body.attributes
        if not asked or any(attribute_name(key, name) not in sample.fields for name in asked):
            return  # or baked before they were asked for
        values = {name: sample.fields[attribute_name(key, name)] for name in asked}
        volume = rest_shapes(mesh.nodes, mesh.tets)[1] * mesh.fill
        columns = at_vertices(values, sample.tets, volume, binding, len(sample.nodes))
        path = layout.attribute_path(self.folder, key, sample.frame)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, ply_bytes(drawn, columns), is_durable=False)
