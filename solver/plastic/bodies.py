# SPDX-License-Identifier: GPL-3.0-or-later
"""What the plastic bodies of a scene ask for: values of the body, times what is painted, per tet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..arrays import Floats
from ..heat import plasticity_of
from ..model import Model
from ..painted import carried_inward
from ..scene import Plasticity, Scene
from ..tetrahedralize.tet_mesh import TetMesh
from ..tracks import TrackReader


@dataclass(frozen=True)
class PlasticBody:
    """One body that takes a new shape for good, k tets.

    Attributes:
        key: Of the body.
        tets: Which tets of the model are its own.
        asked: Values of the body, where no track has them.
        yield_paint, flow_paint, maximum_paint: Factors on them, (k,).
        is_animated: Whether any of them has a track.
    """

    key: str
    tets: slice
    asked: Plasticity
    yield_paint: Floats
    flow_paint: Floats
    maximum_paint: Floats
    is_animated: bool

    @property
    def is_additive(self) -> bool:
        """Whether MG04's additive law holds."""
        return self.asked.law == "additive"

    def limits(self, tracks: TrackReader, time: float) -> tuple[Floats, Floats, Floats]:
        """Returns yield strain, flow rate [1/s] and maximum strain at a time [s], (k,) each, none below 0."""
        values = [self.asked.yield_strain, self.asked.flow, self.asked.maximum_strain]
        if self.is_animated:
            names = (f"body.{self.key}.{name}" for name in ANIMATED)
            values = [
                max(float(tracks.sample(name, time)), 0.0) if tracks.has(name) else value
                for name, value in zip(names, values, strict=True)
            ]
        return self.yield_paint * values[0], self.flow_paint * values[1], self.maximum_paint * values[2]


ANIMATED = ("yield_strain", "flow", "maximum_strain")


def make_plastic(scene: Scene, meshes: Sequence[TetMesh], model: Model, tracks: TrackReader) -> tuple[PlasticBody, ...]:
    """Returns the plastic bodies of a scene; `meshes` are the tets of all its bodies, in the order of the model."""
    found = []
    for body, mesh, part in zip(scene.bodies, meshes, model.bodies, strict=True):
        asked = plasticity_of(body)
        if asked is None:
            continue
        paints = carried_inward(body, mesh, asked.yield_paint, asked.flow_paint, asked.maximum_paint)
        is_animated = any(tracks.has(f"body.{body.key}.{name}") for name in ANIMATED)
        found.append(PlasticBody(body.key, part.tets, asked, *paints, is_animated=is_animated))
    return tuple(found)
