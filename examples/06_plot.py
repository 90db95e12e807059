# SPDX-License-Identifier: GPL-3.0-or-later
"""How the damping of a material lets a bar that sags swing on, drawn by matplotlib into swings.png."""

from dataclasses import replace

import matplotlib
import numpy as np

import sinew

matplotlib.use("Agg")  # no window
import matplotlib.pyplot as plt

nodes, tets = sinew.shapes.box_tets((2, 8, 2), (0.1, 0.4, 0.1))
settings = sinew.Settings(frame_end=30)
seconds = np.arange(settings.frame_count) / settings.fps
heights = {}
for damping in (0.0, 0.01, 0.05):
    material = sinew.Material(youngs_modulus=1.0e5, stiffness_damping=damping)
    bar = sinew.shapes.body_of_tets(nodes, tets, material=material)
    bar = replace(bar, pinned=np.flatnonzero(bar.vertices[:, 1] < 1e-9))
    tip = bar.vertices[:, 1].argmax()
    frames = sinew.Simulation(sinew.Scene([bar], settings=settings)).run()
    heights[damping] = [frame.positions["body"][tip, 2] for frame in frames]
    plt.plot(seconds, heights[damping], label=f"{damping:g} s")
plt.xlabel("time [s]")
plt.ylabel("height of the tip [m]")
plt.legend(title="stiffness damping")
plt.savefig("swings.png", dpi=120)
