# SPDX-License-Identifier: GPL-3.0-or-later
"""A bar hangs from its upper end, which an animation swings to and fro."""

from dataclasses import replace

import numpy as np

import sinew

nodes, tets = sinew.shapes.box_tets((2, 2, 8), (0.1, 0.1, 0.4))
bar = sinew.shapes.body_of_tets(nodes, tets, material=sinew.Material(youngs_modulus=5.0e4), key="bar")
pinned = np.flatnonzero(bar.vertices[:, 2] > 0.4 - 1e-9)
scene = sinew.Scene([replace(bar, pinned=pinned)], settings=sinew.Settings(frame_end=24))

# a track is times [s] and values at them; this one says where the pinned vertices are to be
times = np.arange(24) / 24.0
sideways = 0.2 * np.sin(2.0 * np.pi * times)
targets = bar.vertices[pinned] + sideways[:, None, None] * np.array([1.0, 0.0, 0.0])
simulation = sinew.Simulation(scene, {"body.bar.targets": (times, targets)})

missed, lags = [], []  # how far the pinned end is from its targets, and the lower end from below it [m]
for frame in simulation.run():
    x = frame.positions["bar"]
    missed.append(np.abs(x[pinned] - targets[frame.number - 1]).max())
    lags.append(x[x[:, 2].argmin(), 0] - x[pinned, 0].mean())
    print(f"frame {frame.number}: the pinned end misses by {missed[-1]:.0e} m, the lower end lags by {lags[-1]:+.3f} m")
