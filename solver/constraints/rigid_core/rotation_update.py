# SPDX-License-Identifier: GPL-3.0-or-later
"""Ends a step for bodies with a rigid core: a core is turned, where the step has moved its nodes along straight lines.

A core that touches nothing takes all of its body along: the rigid part of the body's motion that is the core's turning
is taken out of the step and made again as a rotation, about the body's centre of mass or about the hinge, so that skin
around a core that turns fast is not stretched by that. The body's momentum and its angular momentum, or that about its
hinge, stay as they are; where nothing from outside turns a body at all, its angular momentum is that before the step.
Where contacts or held nodes say where skin has to be, it stays there, and the core turns alone.
"""

from __future__ import annotations

import numpy as np

from ...mechanics.finite_rotation_correction import midpoint_angular_velocity, rotation_matrices
from ...mechanics.model import Model
from ...runtime.arrays import Bools, Floats
from .rigid_body_batch import batch_numbers, cores_outside, rigid_body_batch, rigid_body_nodes
from .rigid_body_momentum import (
    CoreBody,
    angular_momentum,
    axis_speed,
    core_body,
    cross_each,
    hinge_angle,
    hinged_positions,
    inertia_of,
    mass_mean,
    momentum_along,
    motion_about_axis,
    rate_about_axis,
    rigid_fit,
)

MIN_EXTENT_RATIO = 1.0e-3  # smaller over largest extent of held nodes from which they tell how a core is turned


def rotate_cores(
    model: Model,
    before: tuple[Floats, Floats],
    end: tuple[Floats, Floats],
    dt: float,
    is_fixed: Bools | None,
    target: Floats | None,
    touched: Bools,
    sprung: Bools,
) -> tuple[Floats, Floats]:
    """Returns positions [m] and velocities [m/s] at the end of a step, (n, 3) each, with cores turned.

    Args:
        model: The bodies.
        before: Positions and velocities where the step begins.
        end: The same where it ends, x⁺ = x + Δt v⁺, with cores that move as rigid bodies from x.
        dt: Δt [s].
        is_fixed, target: Which nodes are held, and where they are [m], (n,) and (n, 3); None: none.
        touched: Which islands have contacts, (k,).
        sprung: Which islands feel forces of springs, (k,).
    """
    x, v = end[0].copy(), end[1].copy()
    start = model.pattern.island_start.astype(np.int64)
    in_batch = batch_numbers(model, is_fixed)
    if is_fixed is not None:  # a batch has only free ones here
        in_batch = in_batch[[not is_fixed[model.cores[number].nodes[0]] for number in in_batch]]
    if len(in_batch):
        batch = rigid_body_batch(model, in_batch, before[0])
        islands, nodes = model.pattern.island_of_row[batch.nodes[:, 0]], batch.nodes
        keeps_spin = ~touched[islands] & ~sprung[islands]
        damping = model.mass_damping[nodes[:, 0]]
        x[nodes], v[nodes] = batch.rotated(model, end[1][nodes], before[1][nodes], keeps_spin, damping, dt)
    standing = set[int]()
    if is_fixed is not None and target is not None:
        # to the last bit
        stands, rigid = is_fixed & (target == before[0]).all(axis=1), rigid_body_nodes(model)
        x[stands], v[stands] = before[0][stands], 0.0
        standing = set(rigid.numbers[stands[rigid.nodes].all(axis=1)].tolist())
    for number in cores_outside(in_batch, len(model.cores)):
        if number in standing:
            continue
        core = model.cores[number]
        body = core_body(model, core, before[0])
        island = int(model.pattern.island_of_row[core.nodes[0]])
        own = slice(int(start[island]), int(start[island + 1]))
        held = np.zeros(0, np.int64) if is_fixed is None else np.flatnonzero(is_fixed[core.nodes])
        is_bound = bool(touched[island]) or (is_fixed is not None and bool(is_fixed[own].any()))
        if len(held) and target is not None:
            _move_fixed(model, body, held, target, x, v, dt)
        elif core.hinge is not None:
            _rotate_about_axis(model, body, own, before[0], x, v, dt, is_bound)
        elif is_bound:
            _rotate_alone(model, body, x, v, dt)
        else:
            kept = None if sprung[island] else before[1]
            _rotate_free(model, body, own, before[0], kept, x, v, dt)
    return x, v


def rigid_velocities(model: Model, x: Floats, v: Floats) -> Floats:
    """Returns velocities [m/s], (n, 3), in which cores at positions x [m], (n, 3), move as rigid bodies, as they are.

    Of a free core momentum and angular momentum stay; of one with an axis the angular momentum about it.
    """
    out = v.copy()
    batch = rigid_body_batch(model, batch_numbers(model, None), x)
    if len(batch):
        out[batch.nodes] = batch.velocities(*batch.motion(v[batch.nodes]))
    in_batch = set(batch.numbers.tolist())
    for core in (core for number, core in enumerate(model.cores) if number not in in_batch):
        body = core_body(model, core, x)
        V, omega = body.motion(v[core.nodes])
        if core.hinge is not None:
            rate = rate_about_axis(core, body, core.hinge.now, v[core.nodes])
            V, omega = motion_about_axis(core, body, core.hinge.now, rate)
        out[core.nodes] = body.velocities(V, omega)
    return out


def _rotate_free(
    model: Model, body: CoreBody, own: slice, x0: Floats, v0: Floats | None, x: Floats, v: Floats, dt: float
) -> None:
    """Turns a whole body about its centre of mass as its core turns; with v0 it keeps the angular momentum of that."""
    mass, old = model.mass[own], x0[own]
    centre, speed = mass_mean(mass, old), mass_mean(mass, v[own])
    arm, rest = old - centre, v[own] - speed
    omega = body.motion(v[body.core.nodes])[1]
    angular = angular_momentum(mass, arm, rest)
    inertia = inertia_of(mass, arm)
    whole = np.linalg.solve(inertia, angular)
    middle = midpoint_angular_velocity(inertia[None], angular[None], whole[None], dt)[0]
    R = rotation_matrices(((omega + middle - whole) * dt)[None])[0]
    strain = rest - cross_each(omega, arm)
    after, strain = (arm + dt * strain) @ R.T, strain @ R.T
    if v0 is not None:
        damped = 1.0 + dt * float(model.mass_damping[own][0])
        angular = angular_momentum(mass, arm, v0[own] - mass_mean(mass, v0[own])) / damped
    left = angular - angular_momentum(mass, after, strain)
    spin = np.linalg.solve(inertia_of(mass, after), left)
    x[own] = centre + dt * speed + after
    v[own] = speed + cross_each(spin, after) + strain
    _restore_shape(model, body, x)


def _rotate_alone(model: Model, body: CoreBody, x: Floats, v: Floats, dt: float) -> None:
    """Turns a core about its own centre of mass; its angular momentum about that stays."""
    V, omega = body.motion(v[body.core.nodes])
    angular = body.inertia @ omega
    R = rotation_matrices(midpoint_angular_velocity(body.inertia[None], angular[None], omega[None], dt) * dt)[0]
    after = body.lever_arms @ R.T
    x[body.core.nodes] = body.centre + dt * V + after
    v[body.core.nodes] = V + cross_each(np.linalg.solve(R @ body.inertia @ R.T, angular), after)
    _restore_shape(model, body, x)


def _rotate_about_axis(
    model: Model, body: CoreBody, own: slice, x0: Floats, x: Floats, v: Floats, dt: float, is_bound: bool
) -> None:
    """Turns a core about its axis, and where that stands still and skin is not bound all of its body."""
    core, hinge = body.core, body.core.hinge
    assert hinge is not None
    n, point = hinge.before[:3, 2], hinge.before[:3, 3]
    V, omega = body.motion(v[core.nodes])
    rate = float(n @ (omega - axis_speed(core)[1]))
    if hinge.is_still and not is_bound:
        mass, arm = model.mass[own], x0[own] - point
        R = rotation_matrices((rate * dt * n)[None])[0]
        strain = v[own] - cross_each(rate * n, arm)
        after, moved = (arm + dt * strain) @ R.T, strain @ R.T
        radii = cross_each(n, after)
        angular = n @ angular_momentum(mass, arm, v[own])
        rate_now = (angular - n @ angular_momentum(mass, after, moved)) / momentum_along(mass, radii, radii)
        x[own], v[own] = point + after, rate_now * radii + moved
    rest = model.X[core.nodes]
    angle = hinge_angle(core, body.mass, rest, x0[core.nodes]) + rate * dt
    x[core.nodes] = hinged_positions(core, rest, angle)
    if not hinge.is_still or is_bound:
        n_now, arms = hinge.now[:3, 2], x[core.nodes] - hinge.now[:3, 3]
        speed, turning = axis_speed(core)
        v[core.nodes] = speed + cross_each(turning + rate * n_now, arms)


def _move_fixed(
    model: Model, body: CoreBody, held: np.ndarray, target: Floats, x: Floats, v: Floats, dt: float
) -> None:
    """Moves a core some nodes of which are held: as these say, and where they leave it free as it was solved for."""
    core = body.core
    V, omega = body.motion(v[core.nodes])
    wanted, rest, mass = target[core.nodes[held]], model.X[core.nodes[held]], body.mass[held]
    if determines_rotation(rest):
        R, t = rigid_fit(mass, rest, wanted)
        x[core.nodes] = model.X[core.nodes] @ R.T + t
    else:
        R = rotation_matrices((omega * dt)[None])[0]
        x[core.nodes] = body.centre + dt * V + body.lever_arms @ R.T
        _restore_shape(model, body, x)
        x[core.nodes] += mass_mean(mass, wanted - x[core.nodes[held]])
    centre = mass_mean(body.mass, x[core.nodes])
    v[core.nodes] = V + cross_each(omega, x[core.nodes] - centre)


def determines_rotation(points: Floats) -> bool:
    """Whether points, (k, 3), do not lie on a line."""
    sizes = np.linalg.svd(points - points.mean(axis=0), compute_uv=False)
    return len(points) > 2 and bool(sizes[1] > MIN_EXTENT_RATIO * sizes[0])


def _restore_shape(model: Model, body: CoreBody, x: Floats) -> None:
    """Puts a core's nodes where its shape at rest has them: what round-off does does not add up."""
    nodes = body.core.nodes
    R, t = rigid_fit(body.mass, model.X[nodes], x[nodes])
    x[nodes] = model.X[nodes] @ R.T + t
