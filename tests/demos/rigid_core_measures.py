# SPDX-License-Identifier: GPL-3.0-or-later
"""What is measured of the demos with a rigid core: that it is rigid, how it turns, and how far skin lags behind."""

from __future__ import annotations

import numpy as np

from sinew.solver.bake.cache import CacheReader, layout
from sinew.solver.constraints.rigid_core import find_core
from sinew.solver.constraints.rigid_core.rigid_body_momentum import rigid_fit
from sinew.solver.mesh.geometry.triangle_surface import make_surface
from sinew.solver.scene.scene import Scene

SCENES = ("bunny_head", "great_dane")


def core_numbers(cache: CacheReader) -> dict[str, dict[str, float]]:
    """Returns by body how much distances within its core change [m], how far it turns [degrees], and how far skin is
    from where the core's motion would have it [m], at most."""
    scene = Scene.load(cache.folder / layout.SCENE_FOLDER)
    last = cache.last_frame()
    assert last is not None
    found, start = {}, 0
    for body in scene.bodies:
        model = cache.read_model(body.key)
        X, own = model["nodes"], slice(start, start + len(model["nodes"]))
        start = own.stop
        assert body.core is not None
        surface = make_surface(body.vertices, body.triangles, body.name)
        core = find_core(body.core, body.name, surface, X, model["tets"])
        numbers = {"core_tets": float(len(core.tets)), "core_stretch": 0.0, "core_turned": 0.0, "skin_lag": 0.0}
        for frame in range(cache.metadata.frame_start, last + 1):
            x = cache.read_frame(frame).x[own].astype(np.float64)
            R, t = rigid_fit(np.ones(len(core.nodes)), X[core.nodes], x[core.nodes])
            away = np.linalg.norm(x - X @ R.T - t, axis=1)
            angle = np.degrees(np.arccos(np.clip(0.5 * (np.trace(R) - 1.0), -1.0, 1.0)))
            for name, value in (
                ("core_stretch", away[core.nodes].max()),
                ("core_turned", angle),
                ("skin_lag", away.max()),
            ):
                numbers[name] = max(numbers[name], float(value))
        found[body.name] = numbers
    return found
