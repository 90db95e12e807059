# SPDX-License-Identifier: GPL-3.0-or-later
"""What a frame keeps of bodies that may break, so that they can be drawn later with another render mesh.

    nodes.KEY.S          node positions at sample S of the frame [m], world, (n, 3) float64
    missed.PINS.S        what tets missed there of exact targets [m], (e, 3) float64 (pins.py)
    attribute.KEY.NAME   what attributes are made of, at the frame: a value per tet or node, float32

They are the numbers that the render positions of the bake are drawn from, so that where nothing broke the final
mesh is drawn to the same place.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy.typing as npt

from ...constraints.pins import PIN_ERROR_FIELD
from ...runtime.arrays import Floats
from ...scene.scene import Scene
from ...simulation.simulation import Simulation


def breakable_keys(scene: Scene) -> tuple[str, ...]:
    """Returns the keys of the bodies that may break."""
    return tuple(body.key for body in scene.bodies if body.fracture is not None)


def frame_arrays(simulation: Simulation, keys: tuple[str, ...], sample: int) -> dict[str, npt.NDArray]:
    """Returns what a frame keeps of one of its samples."""
    state, kept = simulation.state, {}
    for body in simulation.built.bodies:
        if body.key in keys:
            kept[f"nodes.{body.key}.{sample}"] = state.x[body.range.nodes].copy()
    for pins in simulation.built.pins:
        missed = state.fields.get(PIN_ERROR_FIELD.format(key=pins.key))
        if missed is not None and simulation.built.bodies[pins.body].key in keys:
            kept[f"missed.{pins.key}.{sample}"] = missed.copy()
    return kept


def stored_nodes(fields: Mapping[str, npt.NDArray], key: str, sample: int) -> Floats | None:
    """Returns the node positions of a body at a sample [m], (n, 3); None where it could not break yet."""
    return fields.get(f"nodes.{key}.{sample}")


def stored_pin_errors(fields: Mapping[str, npt.NDArray], pins: str, sample: int) -> Floats | None:
    """Returns what the tets missed of exact targets [m], (e, 3); None where there was nothing to miss."""
    return fields.get(f"missed.{pins}.{sample}")


def attribute_array_name(key: str, name: str) -> str:
    """Returns the name under which a frame keeps what an attribute is made of."""
    return f"attribute.{key}.{name}"
