# SPDX-License-Identifier: GPL-3.0-or-later
"""A brittle ball is thrown on the ground and falls into pieces."""

import sinew

vertices, triangles = sinew.shapes.sphere(radius=0.5, center=(0.0, 0.0, 0.55))
ball = sinew.Body(
    vertices,
    triangles,
    sinew.Material(youngs_modulus=1.0e6, poisson_ratio=0.3, stiffness_damping=0.002),
    sinew.Meshing("robust", divisions=5),
    initial_velocity=(0.0, 0.0, -4.0),
    fracture=sinew.Fracture(breaking_stress=2.0e4, scatter=0.3),
)
scene = sinew.Scene([ball], [sinew.Collider()], sinew.Settings(fps=50.0, substeps=2, frame_end=15))

pieces = []
for frame in sinew.Simulation(scene).run():
    told = frame.report.bodies["body"]
    pieces.append(int(told["pieces"]))
    print(f"frame {frame.number}: {pieces[-1]} pieces, largest stress {told['largest_stress']:.3g} Pa")
