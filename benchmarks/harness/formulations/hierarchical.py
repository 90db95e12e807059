# SPDX-License-Identifier: GPL-3.0-or-later
"""The hierarchical formulation: Green's strain on coarse tets, linear details in their frames."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sinew.solver.integrators.solver_context import StepWorkspace
from sinew.solver.linalg.pattern_union import widen_pattern
from sinew.solver.mechanics.elements.edge_assembly import assemble
from sinew.solver.mechanics.hierarchical.basis_transform import to_hierarchical
from sinew.solver.mechanics.hierarchical.hierarchical_body import HierarchicalBody, hierarchical_body
from sinew.solver.mechanics.model import BodyRange, Model
from sinew.solver.mesh.red_refinement import RefinementLevels, red_refinement
from sinew.solver.runtime.arrays import Floats, Indices, floats, indices


class HierarchicalFormulation:
    """Of a model whose bodies are all hierarchical; those that bring no levels are their own coarse meshes.

    Attributes:
        pattern: Of `stiffness`: coarse tets join all nodes on their faces, which that of the model does not.
        frames: Rotations of the coarse tets of every body, (M, 3, 3) each, held; None: those of where forces are asked.
    """

    def __init__(self, model: Model) -> None:
        levels = model.levels or (None,) * len(model.bodies)
        given = zip(model.bodies, levels, strict=True)
        self.model = replace(model, levels=tuple(own or _single_level(model, body) for body, own in given))
        self.bodies = [hierarchical_body(self.model, number) for number in range(len(model.bodies))]
        pairs = [_face_node_pairs(body) for body in self.bodies]
        self.widened = widen_pattern(model.pattern, *(np.concatenate(side) for side in zip(*pairs, strict=True)))
        self.pattern = self.widened.pattern
        self.frames: list[Floats] | None = None

    def energy(self, x: Floats) -> float | None:
        """Returns the elastic energy [J]."""
        return sum(body.energy(floats(x[body.nodes]), R) for body, R in self._energy_frames(x))

    def forces(self, x: Floats) -> Floats:
        """Returns the elastic forces on the nodes [N], (n, 3), with rotations held: −∂E/∂x but for those."""
        return self._join(x)[1]

    def stiffness(self, x: Floats) -> Floats:
        """Returns K with rotations held, in the blocks of `pattern`, (b, 9)."""
        values, _ = self._join(x)
        wide = np.empty((self.pattern.block_count, 9))
        self.widened.scatter(values, wide)
        blocks = []
        for body, R in self._energy_frames(x):
            beyond, g = body.excess_tangent(floats(x[body.nodes]), R, False), body.gradient_operator.gradients
            blocks.append(np.einsum("maj,mijkl,mbl->mabik", g, beyond.reshape(-1, 3, 3, 3, 3), g).reshape(-1, 9))
        np.add.at(wide, self.widened.added_blocks, np.concatenate(blocks))
        return wide

    def details(self, x: Floats) -> Floats:
        """Returns what nodes have in the hierarchical basis [m], (n, 3): coarse ones x, others what is left of it."""
        found = floats(x).copy()
        for body in self.bodies:
            to_hierarchical(body.levels.starts[1], body.levels.parents, found[body.nodes])
        return found

    def _energy_frames(self, x: Floats) -> list[tuple[HierarchicalBody, Floats]]:
        rotations = self.frames or [body.rotations(floats(x[body.nodes])) for body in self.bodies]
        return list(zip(self.bodies, rotations, strict=True))

    def _join(self, x: Floats) -> tuple[Floats, Floats]:
        pattern = self.model.pattern
        records = StepWorkspace(pattern).element_records(self.model)
        for body, R in self._energy_frames(x):
            body.write(floats(x[body.nodes]), R, records[body.tets])
        values, force = np.empty((pattern.block_count, 9)), np.empty((pattern.node_count, 3))
        assemble(1.0, 0.0, np.zeros(pattern.node_count), pattern, records, values, force)
        return values, force


def _single_level(model: Model, body: BodyRange) -> RefinementLevels:
    """Returns the levels of a body that has one alone."""
    corners = model.tets[body.tets] - np.int32(body.nodes.start)
    return red_refinement(corners, body.nodes.stop - body.nodes.start, 0)[1]


def _face_node_pairs(body: HierarchicalBody) -> tuple[Indices, Indices]:
    """Returns rows and columns of all pairs of nodes on the faces of the same coarse tet, in the whole model."""
    nodes = body.gradient_operator.nodes + np.int32(body.nodes.start)
    count = nodes.shape[1]
    return indices(np.repeat(nodes, count, axis=1).ravel()), indices(np.tile(nodes, (1, count)).ravel())
