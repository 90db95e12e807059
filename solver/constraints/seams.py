# SPDX-License-Identifier: GPL-3.0-or-later
"""Seams of sheets: springs without a length between two vertices, which pull with a largest force and may tear.

With k = 10 E h, a seam that carries what strains the cloth by a tenth gapes by a hundredth of the distance between its
edges. Beyond F / k a spring pulls with the largest force F: W = k s² / 2 up to there, and F s beyond, less a constant.

A sewn vertex never meets what it is sewn to, since a sheet keeps a distance from itself in which no seam would close.
Where a seam has torn its sides meet once they have been farther apart than that.

Source of the largest force: Blender's Sewing of cloth.
"""

from __future__ import annotations

import functools
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from ..mechanics.model import Model
from ..mechanics.state import State
from ..mechanics.state_fields import SEAM_FIELD
from ..mesh.embedding import Binding
from ..mesh.geometry.closest_point import closest_points
from ..mesh.geometry.signed_distance_derivatives import MovingSurface
from ..mesh.geometry.triangle_bvh import build_bvh
from ..runtime.arrays import Bools, Floats, Indices, indices
from ..runtime.errors import SolveFailed
from ..scene.scene import Body
from ..scene.seams import Seams
from .attachments.attachment_potential import ActiveLinks, AttachmentPotential
from .attachments.surface_links import SurfaceLinks
from .attachments.target_surface import TargetSurface
from .force import Force, ForceStep

STIFFNESS_FACTOR = 10.0  # k over E h
WHOLE, TORN, PARTED = 0, 1, 2  # stages of an edge
PARTED_FACTOR = 1.05  # over the distance from which a sheet touches itself, beyond which its sides have parted
UNLIMITED_REACH = 1.0e6  # [m], at which no seam lets go
NO_PLACES = np.zeros((0, 3))

Stages = npt.NDArray[np.uint8]
Indices64 = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class SheetSeams(Force):
    """The seams of a sheet.

    Attributes:
        seams: As in the scene.
        links: Their springs, one for each edge.
        contact_distance: From which the sheet touches itself [m].
    """

    seams: Seams
    links: SurfaceLinks
    contact_distance: float
    kind: ClassVar[str] = "seams"

    @property
    def field(self) -> str:
        """The field of the state that says which edges are whole, have torn, and have parted since, (m,)."""
        return SEAM_FIELD.format(key=self.links.body_key)

    def restricted_to(self, bodies: Collection[int]) -> SheetSeams | None:
        """Returns the seams where their sheet is among these bodies."""
        return self if self.links.body in bodies else None

    def surface_potential(self, step: ForceStep) -> AttachmentPotential | None:
        """Returns the energy of the edges that have not torn; raises as `Force.potential`."""
        force, whole = self._max_force(step), np.flatnonzero(~self.torn(step))
        if not self._is_on(step) or not len(whole):
            return None
        links = replace(self.links.select(indices(whole)), max_force=force if force > 0.0 else np.inf)
        return AttachmentPotential((ActiveLinks(links, 1.0),), step.model.tets)

    def end_step(self, step: ForceStep) -> None:
        """Tears the edges that carry more than they bear, and takes note of those that have parted."""
        potential, stage = self.surface_potential(step), self._stages(step.state)
        if self.seams.breaking_force > 0.0 and potential is not None:
            loads = potential.active[0].sizes_of_forces(step.state.x, step.model.tets)
            stage[np.flatnonzero(stage == WHOLE)[loads > self.seams.breaking_force]] = TORN
        torn = np.flatnonzero(stage == TORN)
        if len(torn):
            stage[torn[self._distances(torn, step) > PARTED_FACTOR * self.contact_distance]] = PARTED
        if stage.any():
            step.state.fields[self.field] = stage

    def static_inputs(self, step: ForceStep) -> list[np.ndarray]:
        """Returns whether it pulls, and how hard at most."""
        return [np.array([self._is_on(step), self._max_force(step)])]

    def torn(self, step: ForceStep) -> Bools:
        """Returns which edges have torn, (m,)."""
        return self._stages(step.state) != WHOLE

    def have_parted(self, state: State) -> Bools:
        """Returns the edges that have torn and whose sides have been so far apart that they may meet, (m,)."""
        return self._stages(state) == PARTED

    def nodes(self, tets: Indices) -> Indices:
        """Returns the two nodes of each edge, (m, 2), for the tets of the model now, (m, 4)."""
        links = self.links
        ends = (links.tet, links.weights), (links.anchor_tet, links.anchor_weights)
        return indices(np.stack([tets[tet, weights.argmax(axis=1)] for tet, weights in ends], axis=1), -1, 2)

    def _stages(self, state: State) -> Stages:
        found = state.fields.get(self.field)
        return np.zeros(len(self.seams.edges), np.uint8) if found is None else found.copy()

    def _distances(self, edges: Indices64, step: ForceStep) -> Floats:
        """Returns how far the vertices of some edges are from each other's triangles [m], (k,)."""
        x = self.links.target.simulated_vertices(step.state.x, step.model.tets)
        found = np.empty(len(edges))
        for k, pair in enumerate(self.seams.edges[edges].tolist()):
            sides = (pair, pair[::-1])
            found[k] = min(self._distance(x, vertex, other) for vertex, other in sides)
        return found

    def _distance(self, x: Floats, vertex: int, other: int) -> float:
        """Returns how far a vertex is from the triangles at another one [m]."""
        own = self.seam_triangles[other]
        return float(closest_points(build_bvh(x, own), x[[vertex]]).distance[0])

    @functools.cached_property
    def seam_triangles(self) -> dict[int, Indices]:
        """The triangles at each vertex that is sewn, (k, 3)."""
        triangles = self.links.target.surface.triangles
        return {int(v): indices(triangles[(triangles == v).any(axis=1)], -1, 3) for v in np.unique(self.seams.edges)}

    def _is_on(self, step: ForceStep) -> bool:
        return self._sample(step, "use_seams", float(self.seams.is_on)) > 0.5

    def _max_force(self, step: ForceStep) -> float:
        return self._sample(step, "seam_max_force", self.seams.max_force)

    def _sample(self, step: ForceStep, name: str, constant: float) -> float:
        track = f"body.{self.links.body_key}.{name}"
        if not step.tracks.has(track):
            return constant
        found = float(step.tracks.sample(track, step.end))
        if not 0.0 <= found < np.inf:
            raise SolveFailed("seam-force", name=self.links.name, value=f"{found:.6g}", time=round(step.end, 3))
        return found


def make_seams(body: Body, binding: Binding, model: Model, number: int) -> SheetSeams | None:
    """Returns the seams of a body, or None where it has none.

    Args:
        body: It.
        binding: Its render vertices in the tets of the model, (n,) and (n, 4).
        model: All bodies.
        number: Which of the model's bodies it is.
    """
    if body.seams is None or not len(body.seams.edges):
        return None
    first, second = body.seams.edges.T
    count, none = len(first), np.zeros(0)
    surface = MovingSurface(body.vertices, indices(body.triangles))
    stiffness = STIFFNESS_FACTOR * body.material.youngs_modulus * body.sheet.thickness / body.simulated_scale**2
    links = SurfaceLinks(
        key=f"body.{body.key}.seams",
        body=number,
        own=model.bodies[number],
        name=body.name,
        strength=1.0,
        reach=UNLIMITED_REACH,
        tet=indices(binding.tet[first]),
        weights=_of(binding.weights, first),
        stiffness=np.full(count, stiffness, np.float64),
        target=TargetSurface(body.name, number, surface, binding.tet, binding.weights, NO_PLACES),
        rest_distance=none,
        side=np.ones(count),
        anchor_tet=indices(binding.tet[second]),
        anchor_weights=_of(binding.weights, second),
        anchor_triangle=np.zeros(0, np.int32),
        anchor_place=NO_PLACES,
        anchor_offset=NO_PLACES,
    )
    return SheetSeams(body.seams, links, 2.0 * body.collision.thickness)


def _of(weights: Floats, vertices: Indices) -> Floats:
    return np.ascontiguousarray(weights[vertices])
