# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps by the backward differentiation formula of second order (BDF2), for bodies whose method asks for it.

    x⁺ = x̂ + γ v⁺,   M v⁺ = M v̂ + γ f(x⁺, v⁺),   γ = ⅔ Δt,   x̂ = (4 x − x⁻) / 3,   v̂ = (4 v − v⁻) / 3,

with x⁻, v⁻ a step before x, v. In w = ⅔ v⁺ that is x⁺ = x̂ + Δt w and (9/4 M) (w − ⅔ v̂) = Δt f: a step of implicit
Euler of the same length Δt, from x̂ and ⅔ v̂, of a body 9/4 as heavy, for which damping counts 3/2. So bodies of both
schemes share one system, and whatever makes a step by implicit Euler makes this one.

Forces that a step linearises are taken at x̂ + γ v, where rotations are those of x⁺ but for terms of second order: with
those of x̂ the scheme would be of first order for a body that turns under stress.

The first step is by implicit Euler, and so is every step in which a body touches something, and the one after it: a
blow is no smooth motion, and extrapolated over it bodies would leave faster than they came. Lengths of steps that
change begin anew as well.

Source: Hauth and Strasser 2004; Curtiss and Hirschfelder 1952. The form in w: own derivation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from ..constraints.external_forces import ExternalForces, PointForces
from ..mechanics.model import BodyRange, Model
from ..mechanics.state import State
from ..mechanics.state_fields import PREVIOUS_DT, PREVIOUS_V, PREVIOUS_X
from ..runtime.arrays import Bools, Floats, floats
from ..scene.formulation import BDF2, FORMULATION_SWITCHES
from .step_report import StepReport

DT_TOLERANCE = 1.0e-6  # relative difference of lengths of steps that are the same

ContactResponse = Callable[..., ExternalForces | None]
ContactLineSearch = Callable[[Floats, Floats, Floats, Floats], bool]
EulerStep = Callable[["EulerStart"], StepReport]


class EulerStart(NamedTuple):
    """What a step by implicit Euler begins with.

    Attributes:
        model: The bodies, with the masses and the damping that it has to see.
        state: x̂ and ⅔ v̂ of bodies by BDF2; moved on by the step.
        outside, respond, follow: As for `implicit_euler.step`.
        about: Where forces and rotations are linearised [m], (n, 3); None: where the step begins.
        is_straight: Islands by BDF2, whose end is not to be turned as if they had flown from x, (k,); None: none.
    """

    model: Model
    state: State
    outside: ExternalForces
    respond: ContactResponse | None
    follow: ContactLineSearch | None
    about: Floats | None = None
    is_straight: Bools | None = None


class _ContactFound(Exception):
    """Bodies by BDF2 have met something in a solve; `outside` is what acts then."""

    def __init__(self, outside: ExternalForces) -> None:
        self.outside = outside


def bodies_by_bdf2(model: Model) -> Bools:
    """Returns which bodies ask for it, (bodies,); (0,) where none does."""
    asks = [method.scheme == BDF2 and "scheme" in FORMULATION_SWITCHES[method.name] for method in model.methods]
    return np.array(asks if any(asks) else [], bool)


def bdf2_step(
    take: EulerStep,
    model: Model,
    state: State,
    outside: ExternalForces,
    dt: float,
    respond: ContactResponse | None,
    follow: ContactLineSearch | None,
) -> StepReport:
    """Moves `state` on by a step of Δt = `dt` [s] of a model some of whose bodies ask for BDF2.

    `take` makes a step by implicit Euler; all others as for `implicit_euler.step`.
    """
    asks, past = bodies_by_bdf2(model), state.fields.get(PREVIOUS_DT)
    goes = asks & (np.abs(past - dt) <= DT_TOLERANCE * dt) if past is not None else np.zeros_like(asks)
    touched = np.zeros_like(asks)
    x, v = floats(state.x), floats(state.v)
    while True:
        touched |= _bodies_in_contact(model, outside)
        ahead = _Predictor(model, state, dt, goes & ~touched)
        try:
            report = take(ahead.start(outside, respond, follow))
            break
        except _ContactFound as found:  # from the begin, with what they have met
            outside = replace(found.outside, is_frozen=None, turns=None)
    ahead.finish(state)
    state.fields[PREVIOUS_X], state.fields[PREVIOUS_V] = x, v
    state.fields[PREVIOUS_DT] = np.where(asks & ~touched, dt, 0.0)
    return report


class _Predictor:
    """Some bodies, `is_bdf2`, (bodies,), at the start of a step by BDF2, and all others as they are."""

    def __init__(self, model: Model, state: State, dt: float, goes: Bools) -> None:
        self.whole, self.before, self.dt, self.is_bdf2 = model, state, dt, goes
        self.rows = np.zeros(model.node_count, bool)
        for body in _select_forces(model, goes):
            self.rows[body.nodes] = True
        x, v = floats(state.x), floats(state.v)
        self.x, w, self.about = x.copy(), v.copy(), x.copy()
        if goes.any():
            own, fields = self.rows, state.fields
            self.x[own] = (4.0 * x[own] - fields[PREVIOUS_X][own]) / 3.0
            w[own] = (8.0 * v[own] - 2.0 * fields[PREVIOUS_V][own]) / 9.0
            self.about[own] = self.x[own] + 2.0 / 3.0 * dt * v[own]
        self.state = State(self.x, w, state.time, state.fields)
        # of nodes: what implicit Euler from x would call w, less w [m/s]
        self.lead = (self.x - x) / dt

    def start(
        self, outside: ExternalForces, respond: ContactResponse | None, follow: ContactLineSearch | None
    ) -> EulerStart:
        """Returns what a step by implicit Euler begins with."""
        if not self.is_bdf2.any():
            return EulerStart(self.whole, self.state, outside, respond, follow)
        islands = self.rows[self.whole.pattern.island_start[:-1].astype(np.int64)]
        return EulerStart(
            scaled_mass_model(self.whole, self.is_bdf2),
            self.state,
            self._acting(outside),
            respond and self._answer(respond),
            follow and self._along(follow),
            self.about,
            islands,
        )

    def finish(self, state: State) -> None:
        """Takes the end of the step into the state of all bodies."""
        end = self.state
        v = end.v
        if self.is_bdf2.any():
            v = np.where(self.rows[:, None], 1.5 * v, v)
        state.x, state.v, state.time, state.fields = end.x, v, end.time, end.fields

    def _acting(self, outside: ExternalForces) -> ExternalForces:
        """Returns what acts as it is from x̂ on, where damping by velocity counts 3/2."""
        points, tets = outside.points, self.whole.tets
        if not len(points):
            return outside
        own = self.rows[tets[points.tet, 0]]
        moved = self.dt * points.positions(self.lead, tets)
        force = points.force - np.einsum("kij,kj->ki", points.stiffness, moved)
        damping = np.where(own[:, None, None], 1.5 * points.damping, points.damping)
        return replace(outside, points=PointForces(points.tet, points.weights, force, points.stiffness, damping))

    def _answer(self, respond: ContactResponse) -> ContactResponse:
        """Returns `respond` for who takes v⁺ for w."""

        def answer(x: Floats, w: Floats, *more: Bools) -> ExternalForces | None:
            changed = respond(x, np.where(self.rows[:, None], 1.5 * w, w), *more)
            if changed is None:
                return None
            if (_bodies_in_contact(self.whole, changed) & self.is_bdf2).any():
                raise _ContactFound(changed)
            return self._acting(changed)

        return answer

    def _along(self, follow: ContactLineSearch) -> ContactLineSearch:
        """Returns `follow` for who begins at x̂: contacts think of a way from x on."""

        def along(before: Floats, w: Floats, x: Floats, bending: Floats) -> bool:
            way = w + self.lead
            has_turned = follow(before + self.lead, way, x, bending)
            w[:] = way - self.lead
            return has_turned

        return along


_cache: WeakKeyDictionary[Model, tuple[Bools, Model]] = WeakKeyDictionary()


def scaled_mass_model(model: Model, goes: Bools) -> Model:
    """Returns a model some of whose bodies, (bodies,), move by implicit Euler as they do by BDF2."""
    kept = _cache.get(model)
    if kept is None or not np.array_equal(kept[0], goes):
        factors = {"mass": 9.0 / 4.0, "gravity_scale": 4.0 / 9.0, "mass_damping": 2.0 / 3.0, "stiffness_damping": 1.5}
        changed = {name: getattr(model, name).copy() for name in factors}
        for body in _select_forces(model, goes):
            for name, factor in factors.items():
                changed[name][body.tets if name == "stiffness_damping" else body.nodes] *= factor
        kept = goes.copy(), replace(model, **changed)
        _cache[model] = kept
    return kept[1]


def _select_forces(model: Model, which: Bools) -> list[BodyRange]:
    return [body for body, is_one in zip(model.bodies, which, strict=True) if is_one]


def _bodies_in_contact(model: Model, outside: ExternalForces) -> Bools:
    """Returns which bodies have contacts that act, (bodies,)."""
    points, count = outside.points, outside.contact_count
    tets = np.concatenate([points.tet[len(points) - count :], outside.pairs.tet, outside.pairs.other])
    found = np.zeros(len(model.bodies), bool)
    found[np.searchsorted([body.tets.start for body in model.bodies], tets, side="right") - 1] = True
    return found
