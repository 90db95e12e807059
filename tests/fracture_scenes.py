# SPDX-License-Identifier: GPL-3.0-or-later
"""Things that break, falling or torn."""

from __future__ import annotations

import dataclasses

import numpy as np

from breaking import breakable
from meshes import bar
from scenes import Run
from sinew.solver.scene import Collider, Fracture, Material, Meshing, Scene, Settings

GLASS = Material(youngs_modulus=2.0e5, poisson_ratio=0.3, density=1000.0, stiffness_damping=0.001)


def ball(**settings):
    """Returns a lumpy stone above the ground, of robust tets."""
    import trimesh

    found = trimesh.creation.icosphere(3, radius=0.5)
    points = np.array(found.vertices)
    points *= 1.0 + 0.2 * np.sin(5.0 * points[:, :1]) * np.cos(4.0 * points[:, 1:2])
    settings.setdefault("fracture", Fracture(breaking_stress=2.0e4, scatter=0.3, seed=5))
    nodes, tets = bar((1, 1, 1), (1.0, 1.0, 1.0))
    body = breakable(nodes, tets, settings.pop("fracture"), key="ball")
    return dataclasses.replace(
        body,
        vertices=points + [0.0, 0.0, 0.62],
        triangles=np.array(found.faces, np.int32),
        meshing=Meshing("smooth", divisions=5),
        tet_nodes=None,
        tets=None,
        material=settings.pop("material", GLASS),
        initial_velocity=(0.0, 0.0, -4.0),
        **settings,
    )


FLOOR = (Collider("floor", "Floor"),)


def falling(folder, *bodies, colliders=FLOOR, **tracks) -> Run:
    settings = Settings(fps=50.0, substeps=2, frame_end=200)
    return Run(folder, Scene((*bodies,), colliders, settings), **tracks)


def pieces(run):
    return run.reports[-1].bodies["ball"]["pieces"]
