# SPDX-License-Identifier: GPL-3.0-or-later
"""Soft bindings: particles that follow points of tets by springs of no length, implicit at any stiffness.

A particle at x_s, with mass m, is drawn to the point x_e = Σ w x of a tet by

    f = −k (x_s − x_e) − b (v_s − v_e),

and the tet feels −f. The particle is coupled to that tet alone, so its velocity is eliminated from a step exactly. With
h the length of the step, c = h² k + h b, and p its momentum without the binding,

    v_s = (p − h k (x_s − x_e) + c v_e) / (m + c),

what the tet feels is linear in v_e, with at most m on the diagonal however stiff the spring is: neither the step nor
the condition of the matrix has a limit. Every solver takes it as a point force.

The tet feels damping where the particle is, by the weights w' with Σ w' x = x_s, as if it carried the particle on an
arm, and v_e in it is the velocity there. In implicit Euler the change of the spring within the step is felt there, too;
the rest of the spring, which is along x_s − x_e, acts at w. So no pair of forces has a torque about the positions at
the start of the step, whatever damping does, and a rigid motion is not damped. What is at rest is loaded by the weight
m g at w' instead of w as far as c makes up m + c: the difference is less than g h² over the size of a tet.

S07's scheme takes springs at w in both of its solves, so that what is at rest is at rest in both. Its last solve sees
them at the middle of the step, where they have no torque.

A particle's mass is taken out of that of its tet, so momentum stays exactly. Damping by mass does not act on particles.

Source: S07, (6.5) to (6.8); elimination, arm and masses are our own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

import numpy as np

from ...mechanics.model import Model
from ...mechanics.state import State
from ...runtime.arrays import Floats, Indices, floats
from ...runtime.errors import BadInput
from ..point_forces import PointForces

POSITION_FIELD, VELOCITY_FIELD = "binding.x", "binding.v"  # of particles in `State.fields` [m], [m/s], (p, 3)
MASS_SHARE = 0.5  # most that particles take of the mass of a node
MIN_VOLUME_RATIO = 1.0e-3  # of a tet to its volume at rest, below which it carries nothing on an arm


@dataclass(frozen=True, eq=False)
class SoftParticles:
    """Particles, p of them, and their bindings.

    Attributes:
        tet, weights: Targets, in tets of the model, (p,) and (p, 4).
        mass: m [kg], (p,).
        stiffness: k [N/m], (p,).
        damping: b [N s/m], (p,).
    """

    tet: Indices
    weights: Floats
    mass: Floats
    stiffness: Floats
    damping: Floats

    def __len__(self) -> int:
        return len(self.tet)

    def targets(self, values: Floats, tets: Indices) -> Floats:
        """Returns positions [m] or velocities of the targets, (p, 3), for those of nodes, (n, 3)."""
        return np.einsum("pa,pai->pi", self.weights, values[tets[self.tet]])

    def select(self, which: Indices, tet: Indices) -> SoftParticles:
        """Returns some of the particles, with other numbers of their tets, (q,) each."""
        rows = (self.weights, self.mass, self.stiffness, self.damping)
        return SoftParticles(tet, *(floats(values[which]) for values in rows))


class SpringEvaluation(Enum):
    """Where a solve takes springs."""

    EULER = "after the solve, with the arms of its start"
    MIDDLE = "after the solve, at their targets: (6.8)"
    GIVEN = "at the positions of the solve, in which only damping is implicit: step 4 of S07's scheme"


@dataclass(frozen=True, eq=False)
class ParticleStep:
    """Particles over one linear solve.

    Attributes:
        particles: They.
        momentum: p [kg m/s], (p, 3).
        spring: h k (x_s − x_e) at the positions of the solve [N s], (p, 3).
        arm_weights: w', (p, 4).
        coupling: c [kg], (p,).
        h: Length of the solve [s].
        springs: Where springs are taken.
    """

    particles: SoftParticles
    momentum: Floats
    spring: Floats
    arm_weights: Floats
    coupling: Floats
    h: float
    springs: SpringEvaluation

    def points(self) -> PointForces:
        """Returns what targets feel, as f = force − damping v."""
        own, c, m, s = self.particles, self.coupling[:, None], self.particles.mass[:, None], self.spring
        reduced = m * c / (m + c)
        if self.springs is SpringEvaluation.GIVEN:
            on_arms = self._points(self._joint_weights, c / (m + c) * (self.momentum - s), reduced)
            return PointForces.concatenate(on_arms, self._points(own.weights, s, 0.0 * c))
        # c (v_s − v_e) and the spring nearly cancel where both are implicit: m over m + c is left of it
        if self.springs is SpringEvaluation.EULER:
            on_arms = self._points(self._joint_weights, c / (m + c) * self.momentum, reduced)
            return PointForces.concatenate(on_arms, self._points(own.weights, m / (m + c) * s, 0.0 * c))
        joint = self._points(self._joint_weights, (c * self.momentum + m * s) / (m + c), reduced)
        damped = self._damped_share
        beside = self._points(own.weights - self.arm_weights, damped * s, damped * (1.0 - damped) * c)
        return PointForces.concatenate(joint, beside)

    def velocities(self, v: Floats, tets: Indices) -> Floats:
        """Returns v_s [m/s], (p, 3), for velocities of the nodes, (n, 3)."""
        own, c = self.particles, self.coupling[:, None]
        carried = np.einsum("pa,pai->pi", self._joint_weights, v[tets[own.tet]])
        return (self.momentum - self.spring + c * carried) / (own.mass[:, None] + c)

    @property
    def _damped_share(self) -> Floats:
        """The share of damping in c, (p, 1)."""
        damping, c = self.h * self.particles.damping, self.coupling
        return np.divide(damping, c, out=np.zeros_like(c), where=c > 0.0)[:, None]

    @property
    def _joint_weights(self) -> Floats:
        """By which weights v_e is taken: w', or of springs w and of damping w', (p, 4)."""
        if self.springs is not SpringEvaluation.MIDDLE:
            return self.arm_weights
        return self.particles.weights + self._damped_share * (self.arm_weights - self.particles.weights)

    def _points(self, weights: Floats, impulse: Floats, mass: Floats) -> PointForces:
        """Returns forces of impulses [N s], (p, 3), less masses [kg], (p, 1), times velocities."""
        damping = (mass / self.h)[:, :, None] * np.eye(3)
        return PointForces(self.particles.tet, weights, impulse / self.h, np.zeros_like(damping), damping)


@dataclass(frozen=True, eq=False)
class ParticleMotion:
    """Where particles are [m], and how fast [m/s], (p, 3) each."""

    x: Floats
    v: Floats


def solve_of_particles(
    particles: SoftParticles,
    model: Model,
    x: Floats,
    motion: ParticleMotion,
    acceleration: Floats,
    h: float,
    springs: SpringEvaluation = SpringEvaluation.EULER,
) -> ParticleStep:
    """Returns what particles add to a solve for v, of M v = M v₀ + h f.

    Args:
        particles: They.
        model: Their tets.
        x: Node positions at which springs are evaluated [m], (n, 3).
        motion: Positions of the particles there, and v₀.
        acceleration: Of particles, by what else acts on them [m/s²], (p, 3).
        h: Length of the solve [s].
        springs: Where springs are taken.
    """
    m, k = particles.mass[:, None], particles.stiffness[:, None]
    drift = motion.x - particles.targets(x, model.tets)
    coupling = h * particles.damping
    if springs is not SpringEvaluation.GIVEN:
        coupling = coupling + h * h * particles.stiffness
    arms = arm_weights(particles, model, x, drift)
    return ParticleStep(particles, m * (motion.v + h * acceleration), h * k * drift, arms, coupling, h, springs)


def arm_weights(particles: SoftParticles, model: Model, x: Floats, drift: Floats) -> Floats:
    """Returns w' with Σ w' x = x_e + drift, (p, 4), or w where a tet is nearly flat.

    Args:
        particles: They.
        model: Their tets.
        x: Node positions [m], (n, 3).
        drift: x_s − x_e [m], (p, 3).
    """
    corners = x[model.tets[particles.tet]]
    Ds = np.swapaxes(corners[:, 1:] - corners[:, :1], 1, 2)
    # of the rest shape itself: `model.volume` is the filled share
    ratio = np.linalg.det(Ds) * np.linalg.det(model.Dm_inverse[particles.tet])
    carries = np.abs(ratio) > MIN_VOLUME_RATIO
    rest = np.zeros_like(drift)
    rest[carries] = np.linalg.solve(Ds[carries], drift[carries][:, :, None])[:, :, 0]
    out = particles.weights.copy()
    out[:, 1:] += rest
    out[:, 0] -= rest.sum(axis=1)
    return out


def particle_masses(model: Model, tet: Indices, weights: Floats, share: float = MASS_SHARE) -> Floats:
    """Returns masses for particles at points of tets [kg], (p,), that take at most a share of the mass of any node.

    Args:
        model: Without particles.
        tet, weights: The points, (p,) and (p, 4).
        share: From 0 to 1.
    """
    nodes, parts = model.tets[tet], np.abs(weights)
    # every node offers its share to the points that hang on it, by their weights; each takes the poorest offer
    asked = np.bincount(nodes.ravel(), parts.ravel(), minlength=model.node_count)
    with np.errstate(divide="ignore", invalid="ignore"):
        offers = np.where(parts > 0.0, share * model.mass[nodes] / asked[nodes], np.inf)
    return floats(offers.min(axis=1))


def with_particles(model: Model, particles: SoftParticles, name: str) -> Model:
    """Returns the model without the masses of particles, which parents give by their weights.

    Args:
        model: Without particles.
        particles: They.
        name: Of the bodies, for people.

    Raises:
        BadInput: A node would have no mass left.
    """
    taken = np.bincount(
        model.tets[particles.tet].ravel(), (particles.weights * particles.mass[:, None]).ravel(), model.node_count
    )
    mass = model.mass - taken
    if model.bound is not None:
        column = mass[:, None]
        model.bound.hand_down(column)
        mass = column[:, 0].copy()
    is_light = mass <= 0.0
    if model.bound is not None:
        is_light[model.bound.nodes] = False
    if is_light.any():
        raise BadInput("particles-too-heavy", name=name, mass=f"{particles.mass.sum():.3g}")
    return replace(model, mass=mass)


def critical_damping(particles: SoftParticles, model: Model) -> Floats:
    """Returns b = 2 √(k μ) [N s/m], (p,), with the reduced mass of particle and target, whose mass is (6.4)."""
    nodes = model.tets[particles.tet]
    with np.errstate(divide="ignore"):
        target = 1.0 / np.einsum("pa,pa->p", particles.weights**2, 1.0 / model.mass[nodes])
    return 2.0 * np.sqrt(particles.stiffness * particles.mass * target / (particles.mass + target))


def begin_particles(particles: SoftParticles, model: Model, state: State) -> None:
    """Puts particles at their targets, moving as these do."""
    state.fields[POSITION_FIELD] = particles.targets(state.x, model.tets)
    state.fields[VELOCITY_FIELD] = particles.targets(state.v, model.tets)
