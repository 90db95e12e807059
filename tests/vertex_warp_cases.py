# SPDX-License-Identifier: GPL-3.0-or-later
"""Bars of warped vertices, and the methods that their tests go through."""

import dataclasses

import numpy as np
import pytest

from meshes import bar
from scenes import rotation
from sinew.solver.method import EDGES, SPRINGS, Method
from sinew.solver.model import Part, make_model
from sinew.solver.scene import Material, Settings

WARP = Method("vertex-warp")
FRAMES = Method("vertex-warp", rotation_field=EDGES)
NETWORK = Method("vertex-warp", network=SPRINGS)
GHOST = Method("vertex-warp", keeps_momentum=False)
ALL = pytest.mark.parametrize("method", [WARP, FRAMES, NETWORK], ids=["least squares", "edges", "springs"])
TIGHT = Settings(tolerance=1e-7, max_iterations=3000)
E, NU = 1.0e5, 0.3


def bar_model(method=WARP, cells=(4, 2, 2), lengths=(2.0, 1.0, 1.0), damping=0.0, youngs=E, **changed):
    nodes, tets = bar(cells, lengths)
    material = Material(youngs, NU, stiffness_damping=damping)
    part = Part("bar", nodes, tets, np.ones(len(tets)), material, method=method)
    return dataclasses.replace(make_model([part]), **changed)


def bent(X, seed=1):
    """Returns a bar that is bent, turned and a little crumpled."""
    x = X + np.random.default_rng(seed).normal(size=X.shape) * 0.04
    x[:, 2] += 0.15 * x[:, 0] ** 2
    return x @ rotation((1.0, 2.0, -0.5), 1.1).T + [3.0, -1.0, 2.0]
