# SPDX-License-Identifier: GPL-3.0-or-later
"""Seams of sheets: springs without a length between two vertices, which pull with a largest force and may tear.

With k = 10 E h, a seam that carries what strains the cloth by a tenth gapes by a hundredth of the distance between its
edges. Beyond F / k a spring pulls with the largest force F: W = k s² / 2 up to there, and F s beyond, less a constant.

Source of the largest force: Blender's Sewing of cloth.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ..mechanics.model import Model
from ..mechanics.state_fields import SEAM_FIELD
from ..mesh.embedding import Binding
from ..mesh.geometry.signed_distance_derivatives import MovingSurface
from ..runtime.arrays import Bools, Floats, Indices, indices
from ..runtime.errors import SolveFailed
from ..scene.scene import Body
from ..scene.seams import Seams
from .attachments.attachment_potential import ActiveLinks, AttachmentPotential
from .attachments.surface_links import SurfaceLinks
from .attachments.target_surface import TargetSurface
from .force import Force, ForceStep

STIFFNESS_FACTOR = 10.0  # k over E h
UNLIMITED_REACH = 1.0e6  # [m], at which no seam lets go
NO_PLACES = np.zeros((0, 3))


@dataclass(frozen=True, eq=False)
class SheetSeams(Force):
    """The seams of a sheet.

    Attributes:
        seams: As in the scene.
        links: Their springs, one for each edge.
    """

    seams: Seams
    links: SurfaceLinks
    kind: ClassVar[str] = "seams"

    @property
    def field(self) -> str:
        """The field of the state that says which edges have torn, (m,)."""
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
        """Tears the edges that carry more than they bear."""
        potential = self.surface_potential(step)
        if self.seams.breaking_force <= 0.0 or potential is None:
            return
        torn = self.torn(step)
        loads = potential.active[0].sizes_of_forces(step.state.x, step.model.tets)
        torn[np.flatnonzero(~torn)[loads > self.seams.breaking_force]] = True
        if torn.any():
            step.state.fields[self.field] = torn.astype(np.uint8)

    def static_inputs(self, step: ForceStep) -> list[np.ndarray]:
        """Returns whether it pulls, and how hard at most."""
        return [np.array([self._is_on(step), self._max_force(step)])]

    def torn(self, step: ForceStep) -> Bools:
        """Returns which edges have torn, (m,)."""
        found = step.state.fields.get(self.field)
        return np.zeros(len(self.seams.edges), bool) if found is None else found.astype(bool)

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
    return SheetSeams(body.seams, links)


def _of(weights: Floats, vertices: Indices) -> Floats:
    return np.ascontiguousarray(weights[vertices])
