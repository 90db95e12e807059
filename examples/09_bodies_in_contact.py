# SPDX-License-Identifier: GPL-3.0-or-later
"""A soft ball falls on a stiffer box, which stands on the ground."""

import sinew

box = sinew.Body(
    *sinew.shapes.box((0.2, 0.2, 0.1), divisions=3, center=(0.0, 0.0, 0.05)),
    sinew.Material(youngs_modulus=2.0e5),
    sinew.Meshing(divisions=5),
    key="box",
)
ball = sinew.Body(
    *sinew.shapes.sphere(radius=0.07, center=(0.02, 0.0, 0.22)),
    sinew.Material(youngs_modulus=2.0e4),
    sinew.Meshing(divisions=5),
    key="ball",
    collision=sinew.Collision(friction=0.8, self_contact=False),
)
scene = sinew.Scene([box, ball], [sinew.Collider(key="ground", friction=0.5)], sinew.Settings(frame_end=15))

heights = []  # of the lowest point of the ball [m]
for frame in sinew.Simulation(scene).run():
    heights.append(frame.positions["ball"][:, 2].min())
    force = frame.report.colliders.get("ground", (0.0, 0.0, 0.0))[2]  # on the ground [N], upwards
    print(f"frame {frame.number}: the ball is {heights[-1]:.3f} m above the ground, which bears {-force:.1f} N")
