# SPDX-License-Identifier: GPL-3.0-or-later
"""The meshes of bodies that are torn in a live run: cut along their cracks, both sides closed, as a bake's final mesh.

A mesh is cut while the run waits. So that a crack that grows does not hold it up step by step, the next cut waits until
the run has gone on for `PAUSE` times as long as the last one took; meanwhile the mesh that there is follows the tets,
and the newest part of the crack is stretched. When a mesh is cut changes no result.
"""

from __future__ import annotations

import time as clock
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np

from ..bake.postprocess.crack_binding import CrackBinding, bind_crack_vertices
from ..bake.postprocess.pin_correction import pin_corrections
from ..constraints.pins import PIN_ERROR_FIELD
from ..mesh.cutting.cut import EmbeddedSurface, cut_embedded_surface, embed_surface
from ..mesh.cutting.final_mesh import FinalMesh
from ..mesh.cutting.torn_sheet import torn_sheet
from ..runtime.arrays import Floats, Indices
from ..runtime.checksums import npz_bytes
from ..runtime.errors import SinewError
from ..scene.scene import Body
from ..simulation.assembled_scene import AssembledBody
from ..simulation.simulation import Simulation

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

PAUSE = 2.0


@dataclass(frozen=True, eq=False)
class TornMesh:
    """A body's mesh since its last cut.

    Attributes:
        final: The mesh.
        ties: Its vertices in the tets.
        corrections: Their weights for offsets of exact pins, by the key of the pins.
        tets: The tets that it was cut for, of the body's own nodes, (m, 4).
    """

    final: FinalMesh
    ties: CrackBinding
    corrections: dict[str, csr_matrix]
    tets: Indices

    def counts(self) -> dict[str, int]:
        """Returns how many vertices, faces and pieces it has."""
        return {"vertices": len(self.final.rest), "faces": self.final.face_count, "pieces": self.final.piece_count}

    def to_bytes(self) -> bytes:
        """Returns the content of its file; faces that are there have opened before."""
        arrays = {field.name: getattr(self.final, field.name) for field in fields(self.final)}
        opens, last = np.zeros(self.final.face_count, np.float32), np.int64(0)
        return npz_bytes({**arrays, "opens": opens, "last_frame": last})


class TornMeshes:
    """All bodies of a run that are torn.

    Attributes:
        meshes: By key.
    """

    def __init__(self, simulation: Simulation, now: Callable[[], float] = clock.perf_counter) -> None:
        self._simulation, self._now = simulation, now
        self._embedded: dict[str, EmbeddedSurface] = {}
        self._failed: set[str] = set()
        self._next_cut = -np.inf
        self.meshes: dict[str, TornMesh] = {}

    def cut_anew(self, on_problem: Callable[[SinewError], None]) -> dict[str, TornMesh]:
        """Cuts the bodies that have torn further, if it is time to, and returns their meshes by key.

        Args:
            on_problem: Told once of each body whose mesh cannot be cut; it is seen stretched then.
        """
        simulation, found = self._simulation, dict[str, TornMesh]()
        if simulation.built.unbroken is None or self._now() < self._next_cut:
            return found
        began = self._now()
        for body, asked in zip(simulation.built.bodies, simulation.scene.bodies, strict=True):
            if body.key in self._failed or asked.fracture is None or not self._has_torn(body):
                continue
            try:
                found[body.key] = self._cut(body, asked)
            except SinewError as problem:
                self._failed.add(body.key)
                on_problem(problem)
        self._next_cut = self._now() + PAUSE * (self._now() - began)
        self.meshes |= found
        return found

    def positions(self, key: str) -> Floats:
        """Returns the vertices of a torn body now [m], world, (k, 3)."""
        torn, simulation = self.meshes[key], self._simulation
        body = next(each for each in simulation.built.bodies if each.key == key)
        out = torn.ties.positions(simulation.state.x[body.range.nodes], torn.ties.nodes(self._tets(body)))
        for pins, matrix in torn.corrections.items():
            offsets = simulation.state.fields.get(PIN_ERROR_FIELD.format(key=pins))
            if offsets is not None:
                out += matrix @ offsets
        return out

    def _cut_solid(self, body: AssembledBody, asked: Body, tets: Indices, of_triangle: Indices) -> FinalMesh:
        arrays = body.mesh.nodes, body.mesh.tets, asked.vertices, asked.triangles
        if body.key not in self._embedded:
            self._embedded[body.key] = embed_surface(*arrays, asked.name)
        return cut_embedded_surface(
            self._embedded[body.key], body.mesh.nodes, tets, asked.vertices, asked.triangles, of_triangle, asked.name
        )

    def _tets(self, body: AssembledBody) -> Indices:
        found: Indices = self._simulation.built.model.tets[body.range.tets] - np.int32(body.range.nodes.start)
        return found

    def _has_torn(self, body: AssembledBody) -> bool:
        before = self.meshes[body.key].tets if body.key in self.meshes else body.mesh.tets
        return not np.array_equal(self._tets(body), before)

    def _cut(self, body: AssembledBody, asked: Body) -> TornMesh:
        mesh, of_triangle = body.mesh, asked.face_of_triangle
        if not len(of_triangle):
            of_triangle = np.arange(len(asked.triangles), dtype=np.int32)
        tets = self._tets(body)
        if asked.is_sheet:
            final = torn_sheet(mesh, tets, asked.vertices, asked.triangles, of_triangle)
        else:
            final = self._cut_solid(body, asked, tets, of_triangle)
        ties = bind_crack_vertices(mesh.tets, final.rest, final.tet, final.weights)
        keys = (asked.key, f"{asked.key}.attached")
        made = {pins: pin_corrections(asked, pins, mesh.report.tet_size, final, ties.first) for pins in keys}
        return TornMesh(final, ties, {pins: matrix for pins, matrix in made.items() if matrix is not None}, tets)
