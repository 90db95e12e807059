# SPDX-License-Identifier: GPL-3.0-or-later
"""The finishing pass over one body."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ...mechanics.model import rest_shape_inverses
from ...mesh.cutting.cut import cut_surface
from ...mesh.cutting.final_mesh import FinalMesh
from ...mesh.cutting.torn_sheet import torn_sheet
from ...mesh.embedding import Binding
from ...mesh.world_to_object import to_object_space
from ...runtime.arrays import Indices, indices
from ...runtime.atomic_files import sync_all, write_atomic
from ...runtime.checksums import npz_bytes
from ...runtime.errors import BadInput
from ...scene.brittle_validation import is_brittle
from ...scene.scene import Body, Scene
from ...scene.tracks import TrackReader
from ..attributes.nodal_recovery import interpolate_at_vertices
from ..attributes.point_ply import ply_bytes
from ..cache import FractureResult, layout
from ..cache.pc2 import AtomicPc2Writer, read_samples
from .body_frames import BodyFrameReader, BodySample
from .breakable_frame_fields import attribute_array_name
from .crack_binding import bind_crack_vertices
from .crack_opening_times import CrackOpening, TearOpening
from .dust import DustWriter, find_dust
from .pin_correction import pin_corrections
from .result_npz import broken_face_pairs, result_arrays, torn_sheet_arrays
from .vertex_replay import replay_samples

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

OnProgress = Callable[[float], None]
CUT_WORK_SHARE = 0.4  # fraction of the work that is done after the cut


@dataclass(frozen=True)
class BodyPostprocess:
    """The finishing pass of one breakable body.

    Attributes:
        frames: Its baked frames.
        body, scene, tracks: The input.
        on_progress: Called with the fraction of the work that is done; it may raise.
    """

    frames: BodyFrameReader
    body: Body
    scene: Scene
    tracks: TrackReader
    on_progress: OnProgress

    @property
    def folder(self) -> Path:
        """The cache."""
        return self.frames.reader.folder

    def make(self) -> FractureResult | None:
        """Makes the final mesh, its motion and its attributes; returns None without a crack.

        Raises:
            BadInput: The render mesh cannot be cut.
        """
        self.on_progress(0.0)
        try:
            surface = self._cut() if self.frames.has_broken() else None
        except BadInput:
            self._attributes_of_whole()  # of the original render mesh, which stays visible
            raise
        if surface is None or not (self.body.is_sheet or surface.is_broken.any()):
            self._attributes_of_whole()
            return None
        self.on_progress(CUT_WORK_SHARE)
        return self._move(surface)

    def _cut(self) -> FinalMesh:
        mesh, body, of_triangle = self.frames.mesh, self.body, self.body.face_of_triangle
        if not len(of_triangle):
            of_triangle = np.arange(len(body.triangles), dtype=np.int32)
        final = self.frames.final()
        if body.is_sheet:
            return torn_sheet(mesh, final, body.vertices, body.triangles, of_triangle)
        return cut_surface(mesh.nodes, mesh.tets, final, body.vertices, body.triangles, of_triangle, body.name)

    def _move(self, surface: FinalMesh) -> FractureResult:
        head, baked = self.frames.reader.metadata, self.frames.reader.baked_range()
        assert baked is not None
        faces, pairs = broken_face_pairs(surface)
        opening: CrackOpening | TearOpening = CrackOpening(self.frames.mesh.tets, pairs)
        if self.body.is_sheet:
            opening = TearOpening(surface.source_vertex, surface.tet, indices(surface.weights.argmax(axis=1)))
        ties = bind_crack_vertices(self.frames.mesh.tets, surface.rest, surface.tet, surface.weights)
        binding = Binding(surface.tet, surface.weights)
        mesh_path, motion_path = layout.result_paths(self.folder, self.body.key)
        mesh_path.parent.mkdir(exist_ok=True)
        motion = AtomicPc2Writer(motion_path, len(surface.rest), head.frame_start, 1.0 / head.samples_per_frame)
        dust = self._dust(surface)
        try:
            for sample, world in replay_samples(self.frames, ties, self._corrections(surface, ties.first), opening):
                if dust is not None:
                    dust.shrink(sample, self._time(sample), world)
                local = to_object_space(self.tracks, self.body.key, world, self._time(sample))
                motion.append(local)
                if sample.is_frame:
                    self._write_attributes(sample, binding, local)
                    self._write_dust(sample, dust)
                    self._report_progress(sample.frame, baked)
            self._sync_attributes()
            motion.finish()
        finally:
            motion.discard()
        if isinstance(opening, TearOpening):
            arrays = torn_sheet_arrays(surface, opening, head, baked[1])
        else:
            arrays = result_arrays(surface, faces, opening, head, baked[1])
        write_atomic(mesh_path, npz_bytes(arrays))
        return FractureResult.from_arrays(self.body.key, self.body.name, arrays)

    def _corrections(self, surface: FinalMesh, first: Indices) -> dict[str, csr_matrix]:
        size = self.frames.mesh.report.tet_size
        keys = (self.body.key, f"{self.body.key}.attached")
        found = {pins: pin_corrections(self.body, pins, size, surface, first) for pins in keys}
        return {pins: matrix for pins, matrix in found.items() if matrix is not None}

    def _dust(self, surface: FinalMesh) -> DustWriter | None:
        """Returns what writes the dust of the body; None: it makes none."""
        if self.body.fracture is None or not (self.body.fracture.makes_dust and is_brittle(self.body)):
            return None
        pieces = find_dust(self.frames.mesh, self.frames.final())
        if not len(pieces.volume):
            return None
        return DustWriter(pieces, surface.tet, functools.partial(to_object_space, self.tracks, self.body.key))

    def _write_dust(self, sample: BodySample, dust: DustWriter | None) -> None:
        made = None if dust is None else dust.particles()
        if made is None:
            return
        path = layout.dust_path(self.folder, self.body.key, sample.frame)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(path, made, is_durable=False)

    def _time(self, sample: BodySample) -> float:
        return self.scene.settings.time(self.frames.reader.metadata.frame_of_sample(sample.number))

    def _report_progress(self, frame: int, baked: tuple[int, int]) -> None:
        self.on_progress(CUT_WORK_SHARE + (1.0 - CUT_WORK_SHARE) * (frame - baked[0]) / max(baked[1] - baked[0], 1))

    def _attributes_of_whole(self) -> None:
        if not self.body.attributes:
            return
        baked = self.frames.reader.baked_range()
        assert baked is not None
        play = layout.play_path(self.folder, self.body.key)
        for sample in self.frames.samples():
            if sample.is_frame:
                drawn = read_samples(play, sample.number, 1)[0]
                self._write_attributes(sample, self.frames.binding, drawn)
                self._report_progress(sample.frame, baked)
        self._sync_attributes()

    def _sync_attributes(self) -> None:
        for path_of in (layout.attribute_path, layout.dust_path):
            sync_all(path_of(self.folder, self.body.key, 0).parent)

    def _write_attributes(self, sample: BodySample, binding: Binding, drawn: npt.NDArray[np.float32]) -> None:
        key, mesh = self.body.key, self.frames.mesh
        names = self.body.attributes
        if not names or any(attribute_array_name(key, name) not in sample.fields for name in names):
            return  # or the bake is older than this choice
        values = {name: self.frames.attribute(sample, name) for name in names}
        volume = rest_shape_inverses(mesh.nodes, mesh.tets)[1] * mesh.fill
        columns = interpolate_at_vertices(values, sample.tets, volume, binding, len(sample.nodes))
        path = layout.attribute_path(self.folder, key, sample.frame)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(path, ply_bytes(drawn, columns), is_durable=False)
