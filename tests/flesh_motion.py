# SPDX-License-Identifier: GPL-3.0-or-later
"""Dynamic flesh in a few lines, what it keeps, and its own small motions, for tests and long checks."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse
import scipy.sparse.linalg

from meshes import bar
from sinew.solver.arrays import Floats
from sinew.solver.hyperelastic.damping import damping_matrix
from sinew.solver.hyperelastic.element import Hyperelastic, energy, forces, forces_and_tangent, hyperelastic, tet_work
from sinew.solver.integrators.flesh import DynamicFlesh, dynamic_flesh
from sinew.solver.integrators.implicit_euler import step
from sinew.solver.integrators.outside import Outside
from sinew.solver.model import Model, Part, make_model
from sinew.solver.part_model import part_model
from sinew.solver.scene import Material, Settings
from sinew.solver.state import State

EXACT = Settings(tolerance=1.0e-9, max_iterations=5000)
FLESH = Material(youngs_modulus=1.0e5, poisson_ratio=0.4, density=1000.0, stiffness_damping=0.0)
GRAVITY = np.array([0.0, 0.0, -9.81])


def model_of(cells=(2, 2, 4), lengths=(0.4, 0.4, 0.8), material=FLESH, mesh=bar, bodies=1) -> Model:
    """Returns bars side by side."""
    nodes, tets = mesh(cells, lengths)
    moved = [nodes + [2.0 * lengths[0] * k, 0.0, 0.0] for k in range(bodies)]
    return make_model([Part(f"bar{k}", moved[k], tets, np.ones(len(tets)), material) for k in range(bodies)])


def flesh_of(model: Model, scheme="euler", law="stable-neo-hookean", bodies=None, average=False) -> DynamicFlesh:
    """Returns some bodies of a model, or all, as dynamic flesh."""
    numbers = list(range(len(model.bodies))) if bodies is None else bodies
    part = part_model(model, numbers)
    schemes = [scheme] * len(numbers) if isinstance(scheme, str) else scheme
    return dynamic_flesh(model, part, hyperelastic(part.model, law, "smooth", average=average), schemes)


def law_of(model: Model, law="stable-neo-hookean", average=False) -> Hyperelastic:
    """Returns the law of `flesh_of` for the whole model."""
    return hyperelastic(model, law, "smooth", average=average)


def at_rest(model: Model) -> State:
    """Returns the rest shape, not moving."""
    return State(model.X.copy(), np.zeros_like(model.X))


def spinning(model: Model, stretch=1.05, omega=(4.0, -2.0, 6.0)) -> State:
    """Returns a state that turns, moves on and, where stretched, vibrates."""
    centre = np.average(model.X, axis=0, weights=model.mass)
    x = centre + stretch * (model.X - centre)
    return State(x, np.cross(omega, x - centre) + [1.0, 0.5, 2.0])


def advance(model, state, flesh, dt, steps, outside=None, settings=EXACT):
    """Moves a state on and returns the reports; all have converged."""
    reports = [step(model, state, outside or Outside(), dt, settings, flesh=flesh) for _ in range(steps)]
    assert all(report.converged for report in reports), [report.residual for report in reports]
    return reports


def momentum(model, state) -> Floats:
    """Returns Σ m v [kg m/s]."""
    return (model.mass[:, None] * state.v).sum(axis=0)


def spin(model, state) -> Floats:
    """Returns Σ x × m v [kg m²/s]."""
    return (model.mass[:, None] * np.cross(state.x, state.v)).sum(axis=0)


def energy_of(model, state, law="stable-neo-hookean", average=False) -> float:
    """Returns kinetic and elastic energy [J]."""
    found = energy(model, law_of(model, law, average), state.x, tet_work(model.pattern)).energy
    return found + 0.5 * float((model.mass[:, None] * state.v**2).sum())


def force_at(model, x, law="stable-neo-hookean") -> Floats:
    """Returns the elastic forces [N], (n, 3)."""
    force = np.empty_like(x)
    forces(model, law_of(model, law), x, force, tet_work(model.pattern))
    return force


def matrix(model, values):
    """Returns blocks as a SciPy matrix."""
    p, n = model.pattern, model.node_count
    return scipy.sparse.bsr_matrix((values.reshape(-1, 3, 3), p.column, p.row_start), (3 * n, 3 * n)).tocsr()


def damping_of(model, x):
    """Returns D [N s/m] as a SciPy matrix."""
    values = np.empty((model.pattern.block_count, 9))
    damping_matrix(model, x, values, tet_work(model.pattern))
    return matrix(model, values)


def stiffness_of(model, x, law="stable-neo-hookean"):
    """Returns K [N/m] as a SciPy matrix, not clamped."""
    values, force = np.empty((model.pattern.block_count, 9)), np.empty_like(x)
    forces_and_tangent(model, law_of(model, law), x, values, force, tet_work(model.pattern), False)
    return matrix(model, values)


@dataclass(frozen=True)
class Mode:
    """A small motion of a mesh with its own frequency: x = X + q(t) shape.

    Attributes:
        omega: ω [rad/s].
        shape: The largest entry is 1 m, (n, 3).
        damping: b of q̈ + b q̇ + ω² q = 0 [1/s]: β ω² + α.
    """

    omega: float
    shape: Floats
    damping: float

    def at(self, time: float) -> tuple[float, float]:
        """Returns q and q̇ after a start at q = 1, q̇ = 0."""
        b, w = self.damping, np.sqrt(self.omega**2 - self.damping**2 / 4)
        fade = np.exp(-b * time / 2)
        q = fade * (np.cos(w * time) + b / 2 / w * np.sin(w * time))
        return q, -fade * self.omega**2 / w * np.sin(w * time)


def lowest_mode(model: Model, held, number=0) -> Mode:
    """Returns a mode of the linearised mesh with these nodes held, lowest first, by SciPy."""
    free = np.repeat(~held, 3)
    mass = np.repeat(model.mass, 3)[free]
    K = stiffness_of(model, model.X)[free][:, free]
    squares, shapes = scipy.sparse.linalg.eigsh(K, k=number + 1, M=scipy.sparse.diags(mass), sigma=0.0, v0=mass)
    shape = np.zeros(3 * model.node_count)
    shape[free] = shapes[:, number]
    return Mode(
        float(np.sqrt(squares[number])),
        shape.reshape(-1, 3) / np.abs(shape).max(),
        float(model.stiffness_damping[0] * squares[number] + model.mass_damping[0]),
    )


def errors_of_mode(model, scheme, seconds, steps, amplitude, tolerance=1.0e-6):
    """Returns relative errors of the state after so many seconds in the lowest mode, and the steps' lengths [s].

    Lengths are those of substeps. One end is held.
    """
    held = model.X[:, 2] < 1e-9
    mode, flesh = lowest_mode(model, held), flesh_of(model, scheme)
    q, rate = mode.at(seconds)
    errors, lengths = [], []
    for count in steps:
        state = State(model.X + amplitude * mode.shape, np.zeros_like(model.X))
        outside = Outside(is_fixed=held, fixed_target=model.X)
        reports = advance(model, state, flesh, seconds / count, count, outside, replace(EXACT, tolerance=tolerance))
        off = (state.x - model.X) / amplitude - q * mode.shape
        speed = (state.v / amplitude - rate * mode.shape) / mode.omega
        errors.append(float(np.sqrt((off**2).sum() + (speed**2).sum()) / np.sqrt((mode.shape**2).sum())))
        assert len({report.substeps for report in reports}) == 1
        lengths.append(seconds / count / max(reports[0].substeps, 1))
    return np.array(errors), np.array(lengths)


def slopes(errors, lengths) -> Floats:
    """Returns the orders between successive lengths."""
    return np.diff(np.log(errors)) / np.diff(np.log(lengths))
