# SPDX-License-Identifier: GPL-3.0-or-later
"""The paint of materials as Sinew 0.2 stored it: flesh alone had it, among its own values.

Scene files of 0.2 still load, and scenes that 0.2 could describe keep their digests.
"""

from __future__ import annotations

from typing import Any

import numpy as np

# name in `Flesh` of 0.2 → name in `MaterialPaint`
FORMER_NAMES = {
    "stiffness_paint": "youngs_modulus",
    "volume_paint": "poisson_ratio",
    "density_paint": "density",
}


def read_former_flesh_paint(scene: Any) -> None:
    """Moves the paint of flesh to where `Body` has it now, in the tree of a scene; what is no such tree stays."""
    bodies = scene.get("bodies") if isinstance(scene, dict) else None
    for body in bodies if isinstance(bodies, list) else ():
        flesh = body.get("flesh") if isinstance(body, dict) else None
        if not isinstance(flesh, dict) or not isinstance(body.setdefault("material_paint", {}), dict):
            continue
        for former, now in FORMER_NAMES.items():
            if former in flesh:
                body["material_paint"][now] = flesh.pop(former)


def write_former_flesh_paint(body: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
    """Moves the paint in the tree of a body, and its arrays, to where 0.2 had it; what 0.2 did not have stays."""
    flesh = body["flesh"]
    for former, now in FORMER_NAMES.items():
        name = body["material_paint"][now]["array"]
        if flesh is not None:
            del body["material_paint"][now]
            flesh[former] = {"array": name.replace(f"material_paint.{now}", f"flesh.{former}")}
            arrays[flesh[former]["array"]] = arrays.pop(name)
        elif not len(arrays[name]):
            del body["material_paint"][now], arrays[name]
