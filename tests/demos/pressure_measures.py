# SPDX-License-Identifier: GPL-3.0-or-later
"""What is pinned of demo scenes with a pressure: how their hollows grow, and how they leave their keys."""

from __future__ import annotations

import numpy as np

from sinew.solver.bake.cache import CacheReader
from sinew.solver.mesh.geometry.chambers import find_chambers
from sinew.solver.mesh.geometry.triangle_surface import make_surface, signed_volume
from sinew.solver.scene.scene import Scene

SCENES = ("balloon",)


def pressure_numbers(cache: CacheReader) -> dict[str, dict[str, float]]:
    """Returns of each body the volume of its chambers at the end over that at rest, and how it is let go.

    `throw`: how far it goes along x per frame from frame 9 to 13 [m], with the let-go at 10, and by how much that
    changes meanwhile.
    """
    scene, last, found = Scene.load(cache.folder / "scene"), cache.last_frame(), {}
    assert last is not None
    for body in scene.bodies:
        model = cache.read_model(body.key)
        chambers = find_chambers(make_surface(body.vertices, body.triangles, body.name)) or []

        def drawn(frame: int, model=model) -> np.ndarray:
            corners = cache.read_frame(frame).x[model["tets"][model["binding_tet"]]]
            return np.einsum("va,vai->vi", model["binding_weights"], corners)

        now, rest = (sum(signed_volume(x, own) for own in chambers) for x in (drawn(last), body.vertices))
        along = np.diff([drawn(frame)[:, 0].mean() for frame in range(9, 14)])
        found[body.name] = {
            "chamber_growth": now / rest,
            "throw": float(along.mean()),
            "throw_change": float(np.ptp(along)),
        }
    return found
