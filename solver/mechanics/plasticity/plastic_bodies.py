# SPDX-License-Identifier: GPL-3.0-or-later
"""What the plastic bodies of a scene ask for: values of the body, times what is painted, per tet."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ...mesh.tet_mesh import TetMesh
from ...mesh.tet_paint_values import extrapolate_to_tets
from ...runtime.arrays import Floats
from ...runtime.errors import SolveFailed
from ...scene.scene import Plasticity, Scene
from ...scene.settings.plasticity_settings import FLOW, MAXIMUM_STRAIN, YIELD_STRAIN
from ...scene.tracks import TrackReader
from ..heat import plasticity_of
from ..model import Model

# what may have a track, and how Blender calls it
ANIMATED_LABELS = {setting.name: setting.label for setting in (YIELD_STRAIN, FLOW, MAXIMUM_STRAIN)}


@dataclass(frozen=True)
class PlasticBody:
    """One body that takes a new shape for good, k tets.

    Attributes:
        key, name: Of the body.
        tets: Which tets of the model are its own.
        settings: Values of the body, where no track has them.
        yield_paint, flow_paint, maximum_paint: Factors on them, (k,).
        is_animated: Whether any of them has a track.
    """

    key: str
    name: str
    tets: slice
    settings: Plasticity
    yield_paint: Floats
    flow_paint: Floats
    maximum_paint: Floats
    is_animated: bool

    @property
    def is_additive(self) -> bool:
        """Whether MG04's additive law holds."""
        return self.settings.law == "additive"

    def limits(self, tracks: TrackReader, time: float) -> tuple[Floats, Floats, Floats]:
        """Returns yield strain, flow rate [1/s] and maximum strain at a time [s], (k,) each, none below 0.

        Raises:
            SolveFailed: The animation of one gives no number.
        """
        yield_strain, flow, maximum = (self._value(name, tracks, time) for name in ANIMATED_LABELS)
        return self.yield_paint * yield_strain, self.flow_paint * flow, self.maximum_paint * maximum

    def _value(self, name: str, tracks: TrackReader, time: float) -> float:
        track = f"body.{self.key}.{name}"
        if not (self.is_animated and tracks.has(track)):
            return float(getattr(self.settings, name))
        value = float(tracks.sample(track, time))
        if not math.isfinite(value):
            raise SolveFailed("plastic-not-finite", name=self.name, setting=ANIMATED_LABELS[name], time=round(time, 3))
        return max(value, 0.0)


def make_plastic(
    scene: Scene, meshes: Sequence[TetMesh], model: Model, tracks: TrackReader, of_sheets: bool = False
) -> tuple[PlasticBody, ...]:
    """Returns the plastic solids of a scene.

    Args:
        scene: The scene.
        meshes: Tets of all its bodies, in the order of the model.
        model: All bodies.
        tracks: Animated values.
        of_sheets: Whether its plastic sheets are asked for instead.
    """
    found = []
    for body, mesh, part in zip(scene.bodies, meshes, model.bodies, strict=True):
        plasticity = plasticity_of(body)
        if plasticity is None or body.is_sheet != of_sheets:
            continue
        yields, flows, most = extrapolate_to_tets(
            body, mesh, plasticity.yield_paint, plasticity.flow_paint, plasticity.maximum_paint
        )
        is_animated = any(tracks.has(f"body.{body.key}.{name}") for name in ANIMATED_LABELS)
        found.append(PlasticBody(body.key, body.name, part.tets, plasticity, yields, flows, most, is_animated))
    return tuple(found)
