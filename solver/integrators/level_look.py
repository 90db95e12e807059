# SPDX-License-Identifier: GPL-3.0-or-later
"""Hierarchical bodies as a step sees them: linear on the fine level, Green's strain on the coarse one.

While the frames are held, the forces of the fine tets are linear in the positions: they and their blocks are summed
once per step, as those of corotated bodies are. What Green's strain makes of the mean gradients beyond that, in forces,
energy and tangent, follows the iterates, and is kept per coarse tet.
"""

from __future__ import annotations

import time as clock
from collections.abc import Sequence

import numpy as np

from ..arrays import Bools, Floats, floats
from ..elements.assembly import assemble
from ..elements.linear_pull import add_linear_pull
from ..hierarchical.body import LevelBody, level_body
from ..hierarchical.coarse_newton import CoarseProblem, multiply
from ..hierarchical.coarse_solve import by_gradients, lu_factors
from ..hierarchical.galerkin import blocks_between, level_maps, of_coarse_tets
from ..hierarchical.green import take_linear
from ..hierarchical.means import add_stress
from ..hierarchical.preconditioner import LevelBlocks, LevelPreconditioner
from ..hierarchical.search import search
from ..hierarchical.transforms import gather_forces, to_nodal
from ..linear.pattern import BlockPattern
from ..linear.pcg import Solved
from ..method import HIERARCHICAL, LU
from ..model import Model
from .flesh import ROUNDING
from .wide_tangent import product
from .workspace import workspace

BLOCKS_PER_THREAD = 60000  # a product of fewer is over before another thread has begun


def level_numbers(model: Model) -> tuple[int, ...]:
    """Returns the numbers of the hierarchical bodies of a model."""
    return tuple(
        number for number, own in enumerate(model.levels) if own and model.methods[number].name == HIERARCHICAL
    )


class LevelLook:
    """The hierarchical bodies of a model in one step.

    Attributes:
        bodies, frames, solvers: One by one, with the rotations of their coarse tets, (M, 3, 3), held, and how their
            coarse matrices are solved with.
        known: V (P_Green − P_linear) of coarse tets where the step is linearised [J], (M, 3, 3) each.
        force: What the last look found beyond the linear forces [N], of all nodes of the model, (n, 3).
        energy: What belongs to that, per body [J], (k,).
        seconds: Time spent on the coarse level and on the fine one.
        coarse_iterations: Newton iterations of the coarse problems.
    """

    def __init__(self, model: Model, numbers: Sequence[int], about: Floats, held: Floats | None, dt: float) -> None:
        """Begins a step of Δt = `dt` [s], linearised about a position [m], (n, 3).

        `held` are the rotations of tets that hold theirs, (m, 3, 3).
        """
        self.model, self.numbers, self.about, self.dt = model, tuple(numbers), about, dt
        self.bodies = [level_body(model, number) for number in numbers]
        self.frames = [self._frames(number, body, held) for number, body in zip(numbers, self.bodies, strict=True)]
        self.solvers = [model.methods[number].coarse_solver for number in numbers]
        pattern = model.pattern
        self.maps = [level_maps(body.levels, pattern, body.nodes) for body in self.bodies]
        self.known: list[Floats] = []
        self.force = np.zeros((model.node_count, 3))
        self.outside: object = None
        self.blocks: list[LevelBlocks] = []
        self.linear = [self._linear(k) for k in range(len(self.bodies))]
        self.energy = np.zeros(len(self.bodies))
        self.seconds, self.coarse_iterations = {"coarse": 0.0, "fine": 0.0}, 0

    def _frames(self, number: int, body: LevelBody, held: Floats | None) -> Floats:
        if held is not None and self.model.methods[number].rotations_every > 1:
            return floats(held[body.tets][:: body.levels.per_coarse])
        return body.rotations(floats(self.about[body.nodes]))

    @property
    def rows(self) -> list[slice]:
        """Nodes of the bodies."""
        return [body.nodes for body in self.bodies]

    def begin(self, x0: Floats, drag: Floats, values: Floats, force: Floats) -> None:
        """Writes mass, damping and stiffness into the rows of these bodies, (b, 9), and their forces [N], (n, 3).

        Forces are those at `about`, less what K makes of the way there from where the step begins, x0 [m], (n, 3).
        """
        begun = clock.perf_counter()
        pattern, warped = self.model.pattern, workspace(self.model.pattern).warped
        for body, R in zip(self.bodies, self.frames, strict=True):
            own = floats(self.about[body.nodes])
            body.write(own, R, warped[body.tets])
            if self.about is not x0:
                add_linear_pull(1.0, self.about - x0, self.model.tets[body.tets], warped[body.tets])
            assemble(self.dt**2, self.dt, drag, pattern, warped, values, force, body.nodes)
            self.known.append(body.excess(body.mean(own), R))
        self.seconds["fine"] += clock.perf_counter() - begun

    def at(self, x: Floats, clamp: bool = True) -> None:
        """Looks at x [m], (n, 3); `clamp` as for `hyperelastic.element`."""
        begun = clock.perf_counter()
        self.x, self.clamp = x, clamp
        self._beyond: dict[tuple[int, bool], Floats] = {}
        self.force[:] = 0.0
        for body, R, known in zip(self.bodies, self.frames, self.known, strict=True):
            more = body.excess(body.mean(floats(x[body.nodes])), R) - known
            add_stress(-1.0, more, body.means.nodes, body.means.gradients, self.force[body.nodes])
        self.energy = self.energies(x)
        self.seconds["coarse"] += clock.perf_counter() - begun

    def beyond(self, k: int, clamp: bool) -> Floats:
        """Returns what the tangent of a body is beyond its blocks at the last look [J], (M, 9, 9), clamped or not."""
        if (k, clamp) not in self._beyond:
            body = self.bodies[k]
            self._beyond[k, clamp] = body.beyond(floats(self.x[body.nodes]), self.frames[k], clamp)
        return self._beyond[k, clamp]

    def energies(self, x: Floats) -> Floats:
        """Returns the energy that `force` belongs to at x [m], (n, 3), of each body [J]."""
        found = []
        for body, R, known in zip(self.bodies, self.frames, self.known, strict=True):
            F = body.mean(floats(x[body.nodes]))
            found.append(body.excess_energy(F, R).sum() - np.sum(known * F))
        return np.array(found)

    def noise(self, x: Floats) -> tuple[float, Floats]:
        """Returns what round-off alone leaves: of the sum of forces [N], and of the bodies' energies [J], (k,)."""
        square, of_energy = 0.0, []
        for body in self.bodies:
            g = np.sum(body.Dm_inverse**2, axis=(1, 2)) + np.sum(body.Dm_inverse.sum(axis=1) ** 2, axis=1)
            stiff = body.volume * (2.0 * body.mu + body.lam)
            square += float(np.sum((stiff * g) ** 2))
            of_energy.append(ROUNDING * stiff.sum())
        return ROUNDING * float(np.abs(x).max(initial=0.0)) * float(np.sqrt(square)), np.array(of_energy)

    def add_beyond(self, v: Floats, out: Floats) -> None:
        """Adds Δt² times what the tangent is beyond its blocks, times v, (n, 3), to `out`."""
        for k, body in enumerate(self.bodies):
            body.add_beyond(self.dt**2, self.beyond(k, self.clamp), floats(v[body.nodes]), out[body.nodes])

    def solve(
        self, outside: object, pattern: BlockPattern, values: Floats, b: Floats, is_free: Bools, x: Floats,
        tolerance: float, max_iterations: int, least: Floats, likely: Floats | None,
    ) -> Solved:  # fmt: skip
        """Solves A x = b for the free nodes, from what `x` holds; see `hierarchical/search.py`.

        `outside` is what acts from outside: while it is the same object, so are the blocks of A.
        """
        begun = clock.perf_counter()
        self._take(outside, pattern, values)
        ready = []
        for k, (body, solver) in enumerate(zip(self.bodies, self.solvers, strict=True)):
            more = self.dt**2 * of_coarse_tets(self.maps[k], body.means.coarse, self.beyond(k, True))
            ready.append((body.nodes, LevelPreconditioner(self.blocks[k], more, solver)))

        def times(v: Floats) -> Floats:
            is_small = pattern.block_count < BLOCKS_PER_THREAD
            out = multiply(pattern, values, v) if is_small else product(pattern, values, v)
            self.add_beyond(v, out)
            return out

        found = search(pattern, values, times, ready, b, is_free, x, tolerance, max_iterations, least, likely, self.x)
        coarse = sum(own.coarse_seconds for _, own in ready)
        self.seconds["coarse"] += coarse
        self.seconds["fine"] += clock.perf_counter() - begun - coarse
        return found

    def coarse_motion(
        self, outside: object, pattern: BlockPattern, values: Floats, r: Floats, is_free: Bools
    ) -> Floats:
        """Returns velocities [m/s], (n, 3), by which the coarse problem of every body is solved.

        Args:
            outside: As for `solve`.
            pattern, values: A at the last look, but for what is beyond its blocks.
            r: The residual there [N s], (n, 3).
            is_free: Which nodes are solved for.
        """
        begun, found = clock.perf_counter(), np.zeros_like(r)
        self._take(outside, pattern, values)
        for k, body in enumerate(self.bodies):
            levels, maps = body.levels, self.maps[k]
            A = self.blocks[k].coarse - self.linear[k]
            gathered, moves = r[body.nodes].copy(), _moves(body, is_free)
            gather_forces(levels.starts[1], levels.parents, gathered)
            first = levels.starts[1]
            problem = CoarseProblem(
                body, maps, self.dt, A, gathered[:first] * moves[:, None], body.mean(floats(self.x[body.nodes])), moves,
                lu_factors if self.solvers[k] == LU else by_gradients,
            )  # fmt: skip
            y, count = problem.solve()
            self.coarse_iterations += count
            whole = np.concatenate([y, np.zeros((len(levels.parents), 3))])
            to_nodal(first, levels.parents, whole)
            found[body.nodes] = whole
        self.seconds["coarse"] += clock.perf_counter() - begun
        return found

    def _own(self, k: int, pattern: BlockPattern, values: Floats) -> Floats:
        """Returns the blocks among a body's nodes that its tets make, of a matrix that may have more."""
        if pattern is self.model.pattern:
            start, nodes = pattern.row_start, self.bodies[k].nodes
            return values[int(start[nodes.start]) : int(start[nodes.stop])]
        rows, columns, blocks = blocks_between(pattern, self.bodies[k].nodes)
        keys = rows * self.bodies[k].levels.starts[-1] + columns
        return values[blocks[np.searchsorted(keys, self.maps[k].keys)]]

    def _take(self, outside: object, pattern: BlockPattern, values: Floats) -> None:
        """Sums the blocks of A up to all levels, where they are others than before."""
        if outside is not self.outside or not self.blocks:
            self.outside = outside
            own = [self._own(k, pattern, values) for k in range(len(self.bodies))]
            parts = zip(self.bodies, self.maps, own, strict=True)
            self.blocks = [LevelBlocks(body.levels, maps, blocks) for body, maps, blocks in parts]

    def _linear(self, k: int) -> Floats:
        """Returns Δt² times the coarse stiffness of corotated linear strain [kg], (b0, 9)."""
        body = self.bodies[k]
        moduli = np.zeros((len(body.levels.coarse_tets), 9, 9))
        take_linear(self.frames[k], body.coarse_mu, body.coarse_lam, body.means.volume, moduli)
        return -(self.dt**2) * of_coarse_tets(self.maps[k], body.means.coarse, moduli)


def _moves(body: LevelBody, is_free: Bools) -> Bools:
    """Returns which coarse nodes may move alone: those whose motion takes along no node that is held, (n0,)."""
    levels, first = body.levels, body.levels.starts[1]
    held = np.zeros((levels.starts[-1], 3))
    held[:, 0] = ~is_free[body.nodes]
    gather_forces(first, levels.parents, held)
    return np.asarray(held[:first, 0] == 0.0)
