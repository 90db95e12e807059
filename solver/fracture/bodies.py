# SPDX-License-Identifier: GPL-3.0-or-later
"""What is known of breakable bodies while they are whole: strength tet by tet, neighbours, notches, limits."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..arrays import Bools, Floats, floats
from ..chance import draw
from ..errors import BadInput
from ..geometry.surface import Surface
from ..late_dataclass import dataclass
from ..model import Model, rest_shapes
from ..painted import carried_inward
from ..scene import Body, Scene
from ..state import State
from ..tetrahedralize.tet_mesh import TetMesh
from ..tracks import TrackReader
from .broken_points import BrokenPoints, find_broken_points
from .crumbs import least_material
from .neighbours import LEAST_BEARING, Neighbours, bearing_of, find_neighbours
from .notches import notch_nodes

TIP = "node.crack_tip"  # 1 at crack tips and notches, (n,) uint8
DAMAGE = "tet.damage"  # largest principal stress over strength, the most so far, at most 1, (m,)
LARGEST = "fracture.largest_stress"  # largest principal stress so far of each body, in the model [Pa], (bodies,)
SCATTER, ORDER = 1, 2  # what is drawn by lot
LEAST_SHARE = 1.0e-6  # of the breaking stress that is left where the strength is painted away


@dataclass(frozen=True)
class BreakableBody:
    """One body that may break.

    Attributes:
        number: Which of the scene's bodies.
        key, name: As in the scene.
        breaking_stress: Where the scene has no track of it [Pa].
        toughness: K_c [Pa √m] at that breaking stress, over √s: tets of h have the size s h in the simulated size.
        simulated_scale: s: stresses are those of the simulated size, s² times those of the model.
        seed: Of what is drawn by lot.
        most_splits, most_pieces: See `Fracture`.
        least_material: How much each of its pieces holds at least [m³].
    """

    number: int
    key: str
    name: str
    breaking_stress: float
    toughness: float
    simulated_scale: float
    seed: int
    most_splits: int
    most_pieces: int
    least_material: float

    def strength(self, tracks: TrackReader, time: float) -> tuple[float, float]:
        """Returns breaking stress [Pa] and K_c [Pa √m] for the model's stresses at a time [s].

        An animated breaking stress takes K_c along.
        """
        squared = self.simulated_scale**2
        name = f"body.{self.key}.breaking_stress"
        if not tracks.has(name):
            return self.breaking_stress / squared, self.toughness / squared
        stress = max(float(tracks.sample(name, time)), LEAST_SHARE * self.breaking_stress)
        return stress / squared, self.toughness * stress / self.breaking_stress / squared


@dataclass(frozen=True)
class FractureBodies:
    """All breakable bodies of a scene; arrays are over the tets of the whole model.

    Attributes:
        bodies: One by one.
        is_breakable: Which tets may break, (m,).
        is_judged: Whose stress tells whether a body breaks, (m,).
        bearing: Their filled share over that of the fullest around them, (m,).
        share: Their strength over the breaking stress: paint and scatter, (m,).
        size: h: edge of the lattice cell whose tets are as large, ∛(12 V) [m], (m,).
        corner_mass: Mass that each tet gives each of its nodes [kg], (m,).
        material: Filled volume of each tet [m³], (m,).
        neighbours: The inner faces of the breakable bodies.
        together: Across which of them the tets never part, (m, 4).
        is_notch: Which nodes of the whole bodies are at notches, (n,).
        points: Where broken faces get contact points.
    """

    bodies: tuple[BreakableBody, ...]
    is_breakable: Bools
    is_judged: Bools
    bearing: Floats
    share: Floats
    size: Floats
    corner_mass: Floats
    material: Floats
    neighbours: Neighbours
    together: Bools
    is_notch: Bools
    points: BrokenPoints

    def begin(self, state: State, body_count: int) -> None:
        """Writes the first values of its fields into a state."""
        state.fields[TIP] = self.is_notch.astype(np.uint8)
        state.fields[DAMAGE] = np.zeros(len(self.share))
        state.fields[LARGEST] = np.zeros(body_count)


def make_fracture(
    scene: Scene, meshes: Sequence[TetMesh], model: Model, surfaces: Sequence[Surface], gravity: float
) -> FractureBodies | None:
    """Returns what is known of the breakable bodies of a scene, or None where there are none.

    Args:
        scene: What is asked for.
        meshes: Tets of each body.
        model: All bodies in one.
        surfaces: Surface of each body.
        gravity: Magnitude of the acceleration at the first frame [m/s²].

    Raises:
        BadInput: The paint of a body leaves no strength, or nothing that may break.
    """
    if all(body.fracture is None for body in scene.bodies):
        return None
    is_breakable, share = np.zeros(model.tet_count, bool), np.ones(model.tet_count)
    may_part, is_notch = np.zeros(model.tet_count, bool), np.zeros(model.node_count, bool)
    _, volume = rest_shapes(model.X, model.tets)
    fill = np.concatenate([mesh.fill for mesh in meshes])
    size, material, corner_mass = np.cbrt(12.0 * volume), fill * volume, np.empty(model.tet_count)
    bodies = []
    for number, (body, mesh, part) in enumerate(zip(scene.bodies, meshes, model.bodies, strict=True)):
        corner_mass[part.tets] = 0.25 * body.material.density * material[part.tets]
        if body.fracture is None:
            continue
        share[part.tets], is_breakable[part.tets] = _strengths(body, mesh)
        may_part[part.tets] = True
        is_notch[part.nodes] = notch_nodes(surfaces[number], mesh.nodes, mesh.report.tet_size)
        least = least_material(size[part.tets], material[part.tets])
        bodies.append(_breakable(body, number, mesh.report.tet_size, least))
    neighbours = find_neighbours(model.tets, may_part)
    together = neighbours.held_together(fill, volume)
    bearing = bearing_of(model.tets, fill)
    points = find_broken_points(scene, meshes, model, surfaces, gravity)
    return FractureBodies(
        bodies=tuple(bodies),
        is_breakable=is_breakable,
        is_judged=bearing >= LEAST_BEARING,
        bearing=bearing,
        share=share,
        size=floats(size),
        corner_mass=corner_mass,
        material=floats(material),
        neighbours=neighbours,
        together=together,
        is_notch=is_notch,
        points=points,
    )


def _breakable(body: Body, number: int, tet_size: float, least: float) -> BreakableBody:
    asked = body.fracture
    assert asked is not None
    scale = body.simulated_scale
    tough = asked.breaking_stress * np.sqrt(tet_size) if asked.toughness is None else asked.toughness / np.sqrt(scale)
    return BreakableBody(
        number=number,
        key=body.key,
        name=body.name,
        breaking_stress=asked.breaking_stress,
        toughness=float(tough),
        simulated_scale=scale,
        seed=asked.seed,
        most_splits=asked.most_splits,
        most_pieces=asked.most_pieces,
        least_material=least,
    )


def _strengths(body: Body, mesh: TetMesh) -> tuple[Floats, Bools]:
    """Returns the strength of a body's tets over its breaking stress, (m,), and which of them may break, (m,)."""
    asked = body.fracture
    assert asked is not None
    if len(asked.strength_paint) and not (asked.strength_paint > 0.0).any():
        raise BadInput("strength-all-zero", name=body.name)
    paint, unbreakable = carried_inward(body, mesh, asked.strength_paint, asked.unbreakable)
    is_breakable = unbreakable <= 0.5 if len(asked.unbreakable) else np.ones(len(mesh.tets), bool)
    if not is_breakable.any():
        raise BadInput("nothing-breakable", name=body.name)
    lot = 2.0 * draw(asked.seed, SCATTER, np.arange(len(mesh.tets), dtype=np.int64)) - 1.0
    return np.maximum(paint * (1.0 + asked.scatter * lot), LEAST_SHARE), is_breakable
