# SPDX-License-Identifier: GPL-3.0-or-later
"""Step by step, without scene, contacts or frames: a model, its state, what acts, and one call per step."""

import numpy as np

import sinew

mesh = sinew.tetrahedralize(*sinew.shapes.box((0.1, 0.1, 0.4), divisions=2), sinew.Meshing(divisions=10))
model = sinew.model_of_tets(mesh.nodes, mesh.tets, sinew.Material(youngs_modulus=1.0e5), mesh.fill)

is_held = model.X[:, 2] < model.X[:, 2].min() + 0.01
push = np.outer(model.mass, [3.0, 0.0, 0.0])  # forces on nodes [N]
forces = sinew.ExternalForces(gravity=np.array([0.0, 0.0, -9.81]), is_fixed=is_held, node_force=push)

iterations = {}
for solver in ("jacobi", "multigrid"):
    state = sinew.rest_state(model)
    settings = sinew.Settings(tolerance=1.0e-6, linear_solver=solver)
    reports = [sinew.step(model, state, forces, 0.01, settings) for _ in range(20)]
    iterations[solver] = sum(report.iterations for report in reports)
    lean = (state.x - model.X)[:, 0].max()
    print(f"{solver}: {iterations[solver]} iterations for 20 steps of {model.tet_count} tets, leans {lean:.4f} m")
