# SPDX-License-Identifier: GPL-3.0-or-later
"""The shape of a sagging beam at rest, from the rest shape and from a tangle: no time steps."""

import numpy as np

import sinew

nodes, tets = sinew.shapes.box_tets((12, 3, 3), (0.8, 0.2, 0.2))
model = sinew.model_of_tets(nodes, tets, sinew.Material(youngs_modulus=1.0e5))
held = np.flatnonzero(nodes[:, 0] < 1e-9).astype(np.int32)
fixed = sinew.FixedNodes(held, nodes[held])
weight = model.mass[:, None] * np.array([0.0, 0.0, -9.81])

found = sinew.equilibrium(model, fixed, load=weight)
print(f"sags by {nodes[:, 2].min() - found.x[:, 2].min():.4f} m, residual {found.residual:.1e}")

# free nodes anywhere in a cube of one metre: the solver untangles them into the same shape
tangle = np.random.default_rng(0).uniform(-0.5, 0.5, nodes.shape)
untangled = sinew.equilibrium(model, fixed, start=tangle, load=weight)
distance = np.linalg.norm(untangled.x - found.x, axis=1).max()
print(f"from a tangle {distance:.1e} m away from it, after {untangled.newton_iterations} Newton iterations")
