# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps by the backward differentiation formula of second order (BDF2), for bodies whose formulation asks for it.

    x⁺ = x̂ + γ v⁺,   M v⁺ = M v̂ + γ f(x⁺, v⁺),   γ = ⅔ Δt,   x̂ = (4 x − x⁻) / 3,   v̂ = (4 v − v⁻) / 3,

with x⁻, v⁻ one step before x, v. In w = ⅔ v⁺ that is x⁺ = x̂ + Δt w and (9/4 M) (w − ⅔ v̂) = Δt f: a step of implicit
Euler of the same length Δt, from x̂ and ⅔ v̂, of a body 9/4 as heavy, for which damping counts 3/2. So bodies of both
schemes share one system, and the code for a step of implicit Euler takes this one too.

Forces are linearised at x̂ + γ v, whose rotations are those of x⁺ up to terms of second order: with the rotations of x̂
the scheme would be of first order for a body that rotates under stress.

The first step is by implicit Euler, and so is every step in which a body touches something, and the one after it: an
impact is not smooth, and bodies would leave an extrapolated one faster than they came. A step of another length starts
again in the same way.

Source: Hauth and Strasser 2004; Curtiss and Hirschfelder 1952. The form in w: own derivation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ..constraints.external_forces import ExternalForces
from ..constraints.point_forces import PointForces
from ..mechanics.model import BodyRange, Model
from ..mechanics.state import State
from ..mechanics.state_fields import PREVIOUS_DT, PREVIOUS_V, PREVIOUS_X
from ..runtime.arrays import Bools, Floats, floats
from ..scene.formulation import BDF2, FORMULATION_SWITCHES
from .solver_context import StepWorkspace
from .step_input import ContactLineSearch, ContactUpdate, StepInput
from .step_report import StepReport

DT_TOLERANCE = 1.0e-6  # relative difference below which two steps have the same length

EulerStep = Callable[[StepInput], StepReport]


class _ContactFound(Exception):
    """A solve has brought bodies by BDF2 into contact."""

    def __init__(self, external_forces: ExternalForces) -> None:
        self.external_forces = external_forces


def bodies_by_bdf2(model: Model) -> Bools:
    """Returns which bodies use BDF2, (bodies,); (0,) where none does."""
    uses_bdf2 = [method.scheme == BDF2 and "scheme" in FORMULATION_SWITCHES[method.name] for method in model.methods]
    return np.array(uses_bdf2 if any(uses_bdf2) else [], bool)


def bdf2_step(take: EulerStep, start: StepInput) -> StepReport:
    """Moves the state on by a step of a model some of whose bodies use BDF2.

    Args:
        take: Takes a step by implicit Euler.
        start: The step.
    """
    model, state, dt = start.model, start.state, start.dt
    uses_bdf2, past = bodies_by_bdf2(model), state.fields.get(PREVIOUS_DT)
    has_past = uses_bdf2 & (np.abs(past - dt) <= DT_TOLERANCE * dt) if past is not None else np.zeros_like(uses_bdf2)
    touched = np.zeros_like(uses_bdf2)
    x, v = floats(state.x), floats(state.v)
    while True:
        touched |= _bodies_in_contact(model, start.external_forces)
        predictor = _Predictor(start, has_past & ~touched)
        try:
            report = take(predictor.euler_step())
            break
        except _ContactFound as found:  # start again, with these contacts
            external_forces = replace(found.external_forces, is_frozen=None, turns=None)
            start = replace(start, external_forces=external_forces)
    predictor.finish(state)
    state.fields[PREVIOUS_X], state.fields[PREVIOUS_V] = x, v
    state.fields[PREVIOUS_DT] = np.where(uses_bdf2 & ~touched, dt, 0.0)
    return report


class _Predictor:
    """The start of a step in which some bodies, `is_bdf2`, (bodies,), go by BDF2."""

    def __init__(self, start: StepInput, is_bdf2: Bools) -> None:
        self.start, self.whole, self.dt, self.is_bdf2 = start, start.model, start.dt, is_bdf2
        model, dt, fields = start.model, start.dt, start.state.fields
        self.rows = np.zeros(model.node_count, bool)
        for body in _select_bodies(model, is_bdf2):
            self.rows[body.nodes] = True
        x, v = floats(start.state.x), floats(start.state.v)
        self.x, w, self.linearisation_point = x.copy(), v.copy(), x.copy()
        if is_bdf2.any():
            own = self.rows
            self.x[own] = (4.0 * x[own] - fields[PREVIOUS_X][own]) / 3.0
            w[own] = (8.0 * v[own] - 2.0 * fields[PREVIOUS_V][own]) / 9.0
            self.linearisation_point[own] = self.x[own] + 2.0 / 3.0 * dt * v[own]
        self.state = State(self.x, w, start.state.time, fields)
        # of nodes: what implicit Euler from x would call w, less w [m/s]
        self.velocity_offset = (self.x - x) / dt

    def euler_step(self) -> StepInput:
        """Returns the step of implicit Euler that makes the step by BDF2."""
        start, contacts = self.start, self.start.contacts
        if not self.is_bdf2.any():
            return replace(start, state=self.state)
        return replace(
            start,
            model=scaled_mass_model(self.whole, self.is_bdf2, start.workspace),
            state=self.state,
            external_forces=self._shifted_forces(start.external_forces),
            contacts=replace(
                contacts,
                update=contacts.update and self._contact_update(contacts.update),
                line_search=contacts.line_search and self._line_search(contacts.line_search),
            ),
            linearisation_point=self.linearisation_point,
            straight_islands=self.rows[self.whole.pattern.island_start[:-1].astype(np.int64)],
        )

    def finish(self, state: State) -> None:
        """Writes the end of the step into the state of all bodies."""
        end = self.state
        v = end.v
        if self.is_bdf2.any():
            v = np.where(self.rows[:, None], 1.5 * v, v)
        state.x, state.v, state.time, state.fields = end.x, v, end.time, end.fields

    def _shifted_forces(self, external_forces: ExternalForces) -> ExternalForces:
        """Returns external forces for a start at x̂, where damping by velocity counts 3/2."""
        points, tets = external_forces.points, self.whole.tets
        if len(external_forces.tets):
            displaced = external_forces.tets.displaced(self.dt * self.velocity_offset, tets)
            external_forces = replace(external_forces, tets=displaced)
        if not len(points):
            return external_forces
        own = self.rows[tets[points.tet, 0]]
        moved = self.dt * points.positions(self.velocity_offset, tets)
        force = points.force - np.einsum("kij,kj->ki", points.stiffness, moved)
        damping = np.where(own[:, None, None], 1.5 * points.damping, points.damping)
        shifted = PointForces(points.tet, points.weights, force, points.stiffness, damping)
        return replace(external_forces, points=shifted)

    def _contact_update(self, update: ContactUpdate) -> ContactUpdate:
        """Returns the callback for w, from one for v⁺."""

        def update_from_w(x: Floats, w: Floats, *more: Bools) -> ExternalForces | None:
            changed = update(x, np.where(self.rows[:, None], 1.5 * w, w), *more)
            if changed is None:
                return None
            if (_bodies_in_contact(self.whole, changed) & self.is_bdf2).any():
                raise _ContactFound(changed)
            return self._shifted_forces(changed)

        return update_from_w

    def _line_search(self, line_search: ContactLineSearch) -> ContactLineSearch:
        """Returns the callback for velocities from x̂, from one for velocities from x."""

        def line_search_from_w(previous_w: Floats, w: Floats, x: Floats, curvature: Floats) -> bool:
            v = w + self.velocity_offset
            is_shortened = line_search(previous_w + self.velocity_offset, v, x, curvature)
            w[:] = v - self.velocity_offset
            return is_shortened

        return line_search_from_w


def scaled_mass_model(model: Model, is_bdf2: Bools, workspace: StepWorkspace) -> Model:
    """Returns a model whose step by implicit Euler is that of some bodies by BDF2, (bodies,)."""
    cached = workspace.scaled_model
    if cached is not None and cached[0] is model and np.array_equal(cached[1], is_bdf2):
        return cached[2]
    factors = {"mass": 9.0 / 4.0, "gravity_scale": 4.0 / 9.0, "mass_damping": 2.0 / 3.0, "stiffness_damping": 1.5}
    scaled = {name: getattr(model, name).copy() for name in factors}
    for body in _select_bodies(model, is_bdf2):
        for name, factor in factors.items():
            scaled[name][body.tets if name == "stiffness_damping" else body.nodes] *= factor
    found = replace(model, **scaled)
    workspace.scaled_model = model, is_bdf2.copy(), found
    return found


def _select_bodies(model: Model, which: Bools) -> list[BodyRange]:
    return [body for body, is_selected in zip(model.bodies, which, strict=True) if is_selected]


def _bodies_in_contact(model: Model, external_forces: ExternalForces) -> Bools:
    """Returns which bodies have contacts, (bodies,)."""
    points, count, pairs = external_forces.points, external_forces.contact_count, external_forces.pairs
    tets = np.concatenate([points.tet[len(points) - count :], pairs.tet, pairs.other])
    found = np.zeros(len(model.bodies), bool)
    found[np.searchsorted([body.tets.start for body in model.bodies], tets, side="right") - 1] = True
    return found
