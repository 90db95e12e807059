# SPDX-License-Identifier: GPL-3.0-or-later
"""A ball of jelly falls on the ground."""

import sinew

vertices, triangles = sinew.shapes.sphere(radius=0.1, center=(0.0, 0.0, 0.2))
jelly = sinew.Body(vertices, triangles, sinew.Material(youngs_modulus=2.0e4))
scene = sinew.Scene([jelly], [sinew.Collider()], sinew.Settings(frame_end=24))

lowest = []  # of every frame [m]
for frame in sinew.Simulation(scene).run():
    lowest.append(frame.positions["body"][:, 2].min())
    print(f"frame {frame.number}: lowest point {lowest[-1]:.3f} m, {frame.report.contacts} contacts")
