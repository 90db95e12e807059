# SPDX-License-Identifier: GPL-3.0-or-later
"""Cubes with a rigid core, and what is asked of it."""

import numpy as np

from scenes import Run, block
from sinew.solver.geometry.surface import make_surface
from sinew.solver.model import Part, make_model
from sinew.solver.rigid_core import find_core
from sinew.solver.rigid_core_settings import Core
from sinew.solver.scene import Material, Scene, Settings

SOFT = Material(5.0e3, 0.3, 1000.0, stiffness_damping=0.005)
FIRM = Material(1.0e5, 0.3, 1000.0, stiffness_damping=0.02)
WEIGHTLESS = (0.0, 0.0, 0.0)


def cube(core=None, **settings):
    """Returns a cube of 1 m whose skin is 0.3 m thick: 27 of its 343 nodes are core."""
    settings.setdefault("material", SOFT)
    return block((6, 6, 6), core=core or Core(0.3), **settings)


def run_of(folder, *bodies, colliders=(), **settings):
    tracks = {name: settings.pop(name) for name in list(settings) if "__" in name}
    return Run(folder, Scene(bodies, tuple(colliders), Settings(**settings)), **tracks)


def core_of(run, number=0):
    return run.simulation.built.model.cores[number]


def stretch(run, number=0):
    """Returns by how much distances within a core differ from those at rest [m]."""
    core, model = core_of(run, number), run.simulation.built.model
    now, rest = run.state.x[core.nodes], model.X[core.nodes]
    apart = [np.linalg.norm(p[:, None] - p[None], axis=2) for p in (now, rest)]
    return np.abs(apart[0] - apart[1]).max()


def momenta(run):
    """Returns momentum, and angular momentum about the centre of mass."""
    mass, x, v = run.simulation.built.model.mass, run.state.x, run.state.v
    return mass @ v, mass @ np.cross(x - mass @ x / mass.sum(), v)


def spin(run, omega, drift=(0.0, 0.0, 0.0)):
    mass, x = run.simulation.built.model.mass, run.state.x
    run.state.v[:] = np.cross(omega, x - mass @ x / mass.sum()) + drift


def model_of(body):
    surface = make_surface(body.vertices, body.triangles, body.name)
    core = find_core(body.core, body.name, surface, body.tet_nodes, body.tets)
    part = Part(
        "body", body.tet_nodes, body.tets, np.ones(len(body.tets)), body.material, method=body.method, core=core
    )
    model = make_model([part])
    return model, model.cores[0]
