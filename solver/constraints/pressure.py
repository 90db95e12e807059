# SPDX-License-Identifier: GPL-3.0-or-later
"""The pressure in closed bodies and in the hollows of shells.

A chamber of the volume V pulls at the vertices of its surface with f = p ∂V/∂x, the gradient of p V. On a closed
surface these forces have no sum and no moment. Areas and normals are those at the start of a step: the stiffness
p ∂²V/∂x² of such a load is indefinite, and where a body bears its pressure, its own stiffness is larger.

A sealed chamber has (p + P) V = (p₀ + P) V₀ with the ambient pressure P, so that it resists a change of its volume with
k = −∂p/∂V. That may be far stiffer than the body, and couples all its vertices. The pressure of a step is therefore
that at its end, as far as one number per chamber can say:

    p⁺ = p(V) − k (Δt V̇ + Δt² V̈ + Δt² C (p⁺ − p⁻)),    C = Σ |∂V/∂x_i|² / m_i,

with the rate V̇ and its last change V̈, the pressure p⁻ of the last step, and the compliance C of the bare masses that
nothing holds. The body is stiffer than its masses are, so C errs towards smaller changes of p: for one mode of any
frequency, by implicit Euler, the scheme has no root outside of the unit circle as long as C is at most twice as large
as the compliance of the masses, and at rest p⁺ = p(V). The longer a step is than the periods of the body, the more
steps p takes to get there. Own derivation.

Where a crack goes through the surface of a chamber, its gas is gone.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np

from ..mechanics.model import Model
from ..mechanics.state_fields import CHAMBER_FIELD
from ..mesh.embedding import Binding, bind
from ..mesh.geometry.chambers import find_chambers
from ..mesh.geometry.split_edges import split_long_edges
from ..mesh.geometry.triangle_surface import Surface, signed_volume, volume_gradient
from ..mesh.tet_mesh import TetMesh
from ..runtime.arrays import Bools, Floats, Indices, floats
from ..runtime.errors import BadInput
from ..scene.animated_material import value_at
from ..scene.pressure import Pressure
from ..scene.scene import Body
from ..scene.settings.pressure_settings import PRESSURE, TARGET_VOLUME
from ..scene.settings.setting import Setting
from .force import Force, ForceStep
from .point_forces import PointForces


class ChamberMotion(NamedTuple):
    """A row of the field of the state: a sealed chamber between two steps.

    Attributes:
        volume: V [m³].
        rate: V̇ [m³/s].
        acceleration: Change of V̇ in the last step, over Δt [m³/s²].
        pressure: p in the last step [Pa].
        compliance: C [m⁴/kg].
    """

    volume: float
    rate: float
    acceleration: float
    pressure: float
    compliance: float


@dataclass(frozen=True, eq=False)
class Chamber:
    """A closed surface in the tets of a body.

    Attributes:
        tet, weights: Binding of its vertices in the tets of the model, (v,) and (v, 4).
        triangles: They look out of it, (t, 3), of these vertices.
        rest_volume: V at rest [m³].
        is_open: Whether a crack goes through its surface.
    """

    tet: Indices
    weights: Floats
    triangles: Indices
    rest_volume: float
    is_open: bool = False

    def vertices(self, x: Floats, tets: Indices) -> Floats:
        """Returns where its vertices are [m], (v, 3), for node positions or velocities x, (n, 3)."""
        return np.einsum("va,vai->vi", self.weights, x[tets[self.tet]])

    def motion(self, step: ForceStep, is_fixed: Bools, before: ChamberMotion | None, pressure: float) -> ChamberMotion:
        """Returns its motion with the present state of a step.

        Args:
            step: The step.
            is_fixed: Nodes that are held, (n,): these do not yield.
            before: The motion before; None: it has just begun.
            pressure: p in the step [Pa].
        """
        model, state = step.model, step.state
        vertices = self.vertices(state.x, model.tets)
        gradient = volume_gradient(vertices, self.triangles)
        rate = float(np.einsum("vi,vi->", gradient, self.vertices(state.v, model.tets)))
        on_nodes = np.zeros_like(state.x)
        np.add.at(on_nodes, model.tets[self.tet], self.weights[:, :, None] * gradient[:, None])
        yields = ~is_fixed
        if model.bound is not None:
            model.bound.hand_down(on_nodes)
            yields &= ~model.bound.is_bound(len(yields))
        squares = np.einsum("ni,ni->n", on_nodes[yields], on_nodes[yields])
        return ChamberMotion(
            volume=signed_volume(vertices, self.triangles),
            rate=rate,
            acceleration=0.0 if before is None else (rate - before.rate) / step.dt,
            pressure=pressure,
            compliance=float((squares / model.mass[yields]).sum()),
        )

    def has_crack(self, whole: Model, tets: Indices) -> bool:
        """Whether nodes of its tets have split, which have the nodes `tets`, (m, 4), now."""
        own = np.unique(self.tet)
        pairs = np.column_stack([whole.tets[own].ravel(), tets[own].ravel()])
        return len(np.unique(pairs, axis=0)) > len(np.unique(pairs[:, 0]))


@dataclass(frozen=True, eq=False)
class BodyPressure(Force):
    """The pressure in the chambers of one body.

    Attributes:
        body: The body.
        number: Which of the model's bodies it is.
        pressure: As in the scene.
        chambers: Its hollows, or the whole body.
        holding: What may hold nodes of the body exactly.
    """

    body: Body
    number: int
    pressure: Pressure
    chambers: tuple[Chamber, ...]
    holding: tuple[Force, ...]
    kind: ClassVar[str] = "pressure"

    def restricted_to(self, bodies: Collection[int]) -> BodyPressure | None:
        """Returns this pressure if its body is one of those; else None."""
        return self if self.number in bodies else None

    def begin_step(self, step: ForceStep) -> None:
        """Stores how sealed chambers move, whatever has changed the state since the last step."""
        if not self.pressure.is_sealed:
            return
        now, is_fixed = [], self._fixed_nodes(step)
        for chamber, before in zip(self.chambers, self._motions(step), strict=True):
            # the body that a bake starts with knows of no pressure yet
            moved = chamber.motion(step, is_fixed, None, 0.0 if before is None else before.pressure)
            now.append(moved if before is None else moved._replace(acceleration=before.acceleration))
        step.state.fields[self._field] = floats(now)

    def point_forces(self, step: ForceStep) -> PointForces:
        """Returns p ∂V/∂x at the vertices of all chambers."""
        acting, tets = [PointForces()], step.model.tets
        for chamber, motion in zip(self.chambers, self._motions(step), strict=True):
            if chamber.is_open:
                continue
            gradient = volume_gradient(chamber.vertices(step.state.x, tets), chamber.triangles)
            none = np.zeros((len(gradient), 3, 3))
            force = self._pressure(step, chamber, motion) * gradient
            acting.append(PointForces(chamber.tet, chamber.weights, force, none, none))
        return PointForces.concatenate(*acting)

    def end_step(self, step: ForceStep) -> None:
        """Stores how sealed chambers have moved."""
        if self.pressure.is_sealed:
            is_fixed = self._fixed_nodes(step)
            step.state.fields[self._field] = floats(
                [
                    chamber.motion(step, is_fixed, motion, self._pressure(step, chamber, motion))
                    for chamber, motion in zip(self.chambers, self._motions(step), strict=True)
                ]
            )

    def remapped(self, whole: Model, tets: Indices) -> BodyPressure:
        """Returns the pressure after nodes have split: chambers whose surface has a crack are open."""
        chambers = (replace(each, is_open=each.is_open or each.has_crack(whole, tets)) for each in self.chambers)
        holding = tuple(force.remapped(whole, tets) for force in self.holding)
        return replace(self, chambers=tuple(chambers), holding=holding)

    @property
    def _field(self) -> str:
        return CHAMBER_FIELD.format(key=self.body.key)

    def _fixed_nodes(self, step: ForceStep) -> Bools:
        """Returns which nodes of the model are held in a step, as far as they may be of this body, (n,)."""
        is_fixed, target = np.zeros(len(step.state.x), bool), np.zeros_like(step.state.x)
        for force in self.holding:
            force.prescribe(step, is_fixed, target)
        return is_fixed

    def _motions(self, step: ForceStep) -> list[ChamberMotion | None]:
        """Returns how the chambers moved before; None where they are not sealed, or have not moved yet."""
        stored = step.state.fields.get(self._field)
        return [None] * len(self.chambers) if stored is None else [ChamberMotion(*row) for row in stored.tolist()]

    def _pressure(self, step: ForceStep, chamber: Chamber, motion: ChamberMotion | None) -> float:
        """Returns the pressure of a chamber in a step [Pa], as the model has it, from its motion before."""
        if motion is None:
            volume = signed_volume(chamber.vertices(step.state.x, step.model.tets), chamber.triangles)
            return self._law(step, chamber, volume)[0]
        (p, k), dt = self._law(step, chamber, motion.volume), step.dt
        grown = dt * motion.rate + dt * dt * (motion.acceleration - motion.compliance * motion.pressure)
        return (p - k * grown) / (1.0 + k * dt * dt * motion.compliance)

    def _law(self, step: ForceStep, chamber: Chamber, volume: float) -> tuple[float, float]:
        """Returns p [Pa] and k = −∂p/∂V [Pa/m³] of a chamber of a volume [m³], of the size that the model has."""
        p, own, scale = self._value(PRESSURE, step), self.pressure, self.body.simulated_scale**-2
        if not own.is_sealed:
            return p * scale, 0.0
        target = self._value(TARGET_VOLUME, step) * chamber.rest_volume
        # no gas has less than no pressure, and none fills a chamber that is inside out
        absolute, volume = max(p + own.ambient_pressure, 0.0), max(volume, 1.0e-3 * chamber.rest_volume)
        inside = absolute * target / volume
        return (inside - own.ambient_pressure) * scale, inside / volume * scale

    def _value(self, setting: Setting, step: ForceStep) -> float:
        """Returns the value of a setting at the end of a step."""
        if step.tracks.has(f"body.{self.body.key}.{setting.name}"):
            return value_at(self.body, setting, step.tracks, step.end)
        return float(getattr(self.pressure, setting.name))


def make_pressure(
    body: Body,
    surface: Surface,
    mesh: TetMesh,
    binding: Binding,
    model: Model,
    number: int,
    forces: Sequence[Force],
) -> BodyPressure | None:
    """Returns the pressure in a body that is in the model; None where it has none.

    Args:
        body: What is asked for.
        surface: Its render surface, whose triangles are split where they are larger than tets.
        mesh: Its tets.
        binding: The vertices of the surface in these tets, (n,) and (n, 4).
        model: All bodies.
        number: Which of the model's bodies it is.
        forces: Those that may hold nodes.

    Raises:
        BadInput: "pressure-open": the mesh is not closed.
    """
    if body.pressure is None:
        return None
    found = find_chambers(surface)
    if found is None:
        raise BadInput("pressure-open", name=body.name)
    chambers, first_tet = [], np.int32(model.bodies[number].tets.start)
    for triangles in found:
        used, renumbered = np.unique(triangles, return_inverse=True)
        corners = renumbered.reshape(-1, 3).astype(np.int32)
        longest = mesh.report.tet_size if mesh.sheet is None else np.inf  # triangles of sheets are their elements
        vertices, own = split_long_edges(surface.vertices[used], corners, longest)
        tet, weights = binding.tet[used], binding.weights[used]
        if len(vertices) > len(used):
            added = bind(mesh.nodes, mesh.tets, floats(vertices[len(used) :]))
            tet, weights = np.concatenate([tet, added.tet]), np.concatenate([weights, added.weights])
        chambers.append(Chamber(tet + first_tet, floats(weights), own, signed_volume(vertices, own)))
    holding = (part for force in forces if (part := force.restricted_to([number])) is not None)
    return BodyPressure(body, number, body.pressure, tuple(chambers), tuple(holding))
