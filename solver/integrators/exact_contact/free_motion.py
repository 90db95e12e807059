# SPDX-License-Identifier: GPL-3.0-or-later
"""Where bodies are at the end of a step if nothing pulls: nodes go straight on, and rigid bodies turn.

A step of implicit Euler from x0 takes the share (ω Δt)² of the spin of a body that turns by ω Δt. A rigid body's motion
is known without a step, so it is what inertia aims at, x̂, and the velocity at the end is v̂ + (x − x̂) / Δt: what spins
freely keeps its momentum and its angular momentum. The same goes for a core that turns about an axis.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...constraints.rigid_core.batch_motion import place_bodies
from ...constraints.rigid_core.rigid_body_batch import RigidBodyBatch, batch_numbers, rigid_body_batch
from ...constraints.rigid_core.rigid_body_momentum import (
    CoreBody,
    core_body,
    hinge_angle,
    hinged_positions,
    motion_about_axis,
    rate_about_axis,
)
from ...mechanics.finite_rotation_correction import rotation_matrices
from ...mechanics.model import Model
from ...mechanics.rigid_core import RigidCore
from ...mechanics.state import State
from ...runtime.arrays import Bools, Floats, floats


@dataclass(frozen=True, eq=False)
class FreeMotion:
    """The free motion of a step.

    Attributes:
        way: x̂ − x0 [m], (n, 3).
        velocity_change: v̂ − (x̂ − x0) / Δt [m/s], (n, 3): zero of what goes straight on.
        bodies: The rigid bodies that do not, where the step begins.
        start: x0 [m], (n, 3).
        cores: Rigid cores of soft bodies without an axis, whose nodes go straight on as long as nothing holds them
            together.
    """

    way: Floats
    velocity_change: Floats
    bodies: RigidBodyBatch
    start: Floats
    cores: tuple[CoreBody, ...] = ()

    def turned(self, x: Floats, d: Floats) -> Floats:
        """Returns a motion of nodes at x [m], (n, 3) each, in which bodies and cores turn by the rotation d begins.

        Along d itself a body that turns by θ is stretched by θ² / 2, which it hardly lets happen, a core not at all.
        """
        for core in self.cores:
            d = _with_turned_core(core.moved(x), d)
        bodies = self.bodies
        if not len(bodies):
            return d
        count, nodes = len(bodies), bodies.nodes
        centre, arms, inertia = np.empty((count, 3)), np.empty((count, 4, 3)), np.empty((count, 3, 3))
        place_bodies(bodies.mass, nodes, x, centre, arms, inertia)
        now = RigidBodyBatch(bodies.numbers, nodes, bodies.mass, centre, arms, inertia)
        speed, omega = now.motion(d[nodes])
        strained = arms + d[nodes] - now.velocities(speed, omega)
        way = d.copy()
        way[nodes] = speed[:, None] + np.einsum("kij,kaj->kai", rotation_matrices(omega), strained) - arms
        return way


def _with_turned_core(body: CoreBody, d: Floats) -> Floats:
    """Returns a motion, (n, 3) in metres, in which a core turns by the rotation that its rigid part begins."""
    nodes, way = body.core.nodes, d.copy()
    speed, omega = body.motion(d[nodes])
    way[nodes] = speed + body.lever_arms @ rotation_matrices(omega[None])[0].T - body.lever_arms
    return way


def _free_motion_about_axis(model: Model, core: RigidCore, state: State, dt: float) -> tuple[Floats, Floats]:
    """Returns positions [m] and velocities [m/s] of a core's nodes at the end of a step, (k, 3) each.

    It turns on about its axis as fast as it does, relative to it.
    """
    assert core.hinge is not None
    own, rest = core.nodes, model.X[core.nodes]
    body = core_body(model, core, floats(state.x))
    rate = rate_about_axis(core, body, core.hinge.before, floats(state.v[own]))
    x = hinged_positions(core, rest, hinge_angle(core, body.mass, rest, state.x[own]) + rate * dt)
    after = state.x.copy()
    after[own] = x
    ended = body.moved(after)
    return x, ended.velocities(*motion_about_axis(core, ended, core.hinge.now, rate))


def free_motion(model: Model, state: State, is_fixed: Bools | None, dt: float) -> FreeMotion:
    """Returns the free motion of a step of Δt [s]; bodies some nodes of which are held, (n,), go straight on."""
    way, change = dt * floats(state.v), np.zeros_like(state.v)
    numbers = batch_numbers(model, is_fixed)
    bodies = rigid_body_batch(model, numbers, floats(state.x))
    if is_fixed is not None and len(bodies):
        bodies = rigid_body_batch(model, numbers[~is_fixed[bodies.nodes].any(axis=1)], floats(state.x))
    if len(bodies):
        v, count = floats(state.v[bodies.nodes]), len(bodies)
        x_end, v_end = bodies.rotated(model, v, v, np.ones(count, bool), np.zeros(count), dt)
        way[bodies.nodes] = x_end - state.x[bodies.nodes]
        change[bodies.nodes] = v_end - way[bodies.nodes] / dt
    for core in model.cores:
        if core.hinge is not None:
            own, (x_end, v_end) = core.nodes, _free_motion_about_axis(model, core, state, dt)
            way[own] = x_end - state.x[own]
            change[own] = v_end - way[own] / dt
    free = (core for core in model.cores if not core.is_whole and core.hinge is None)
    cores = tuple(core_body(model, core, floats(state.x)) for core in free)
    return FreeMotion(way, change, bodies, floats(state.x).copy(), cores)
