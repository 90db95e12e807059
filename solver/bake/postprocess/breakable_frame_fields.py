# SPDX-License-Identifier: GPL-3.0-or-later
"""The fields that a frame stores for each breakable body; the finishing pass moves the final mesh by them.

    nodes.KEY.S          node positions at sample S of the frame [m], world, (n, 3) float64
    missed.PINS.S        offsets of tets from exact targets there [m], (e, 3) float64 (pins.py)
    attribute.KEY.NAME   fields behind attributes at the frame: a value per tet or node, float32

The render positions of the bake come from the same numbers, so unbroken parts of the final mesh have the same
positions.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy.typing as npt

from ...constraints.pins import PIN_ERROR_FIELD
from ...runtime.arrays import Floats
from ...runtime.npz_reader import stored_floats
from ...scene.scene import Scene
from ...simulation.simulation import Simulation
from ..attributes.attribute_fields import NODE_ATTRIBUTES


def breakable_keys(scene: Scene) -> tuple[str, ...]:
    """Returns the keys of the breakable bodies."""
    return tuple(body.key for body in scene.bodies if body.fracture is not None)


def frame_arrays(simulation: Simulation, keys: tuple[str, ...], sample: int) -> dict[str, npt.NDArray]:
    """Returns the fields of one sample of a frame."""
    state, arrays = simulation.state, {}
    x = simulation.built.stored_positions(state.x)
    for body in simulation.built.stored_now.bodies:
        if body.key in keys:
            arrays[f"nodes.{body.key}.{sample}"] = x[body.range.nodes].copy()
    for pins in simulation.built.pins:
        offsets = state.fields.get(PIN_ERROR_FIELD.format(key=pins.key))
        if offsets is not None and simulation.built.bodies[pins.body].key in keys:
            arrays[f"missed.{pins.key}.{sample}"] = offsets.copy()
    return arrays


def stored_nodes(fields: Mapping[str, npt.NDArray], key: str, sample: int, count: int) -> Floats | None:
    """Returns the node positions of a body of `count` nodes at a sample [m], (n, 3); None if it was not breakable.

    Raises:
        ValueError: They have another type or shape, or are not finite.
    """
    name = f"nodes.{key}.{sample}"
    return stored_floats(fields, name, count, 3) if name in fields else None


def stored_pin_errors(fields: Mapping[str, npt.NDArray], pins: str, sample: int, count: int) -> Floats | None:
    """Returns the offsets of the tets from `count` exact targets [m], (e, 3), or None without targets.

    Raises:
        ValueError: They have another type or shape, or are not finite.
    """
    name = f"missed.{pins}.{sample}"
    return stored_floats(fields, name, count, 3) if name in fields else None


def stored_attribute(
    fields: Mapping[str, npt.NDArray], key: str, name: str, node_count: int, tet_count: int
) -> npt.NDArray:
    """Returns the field behind an attribute of a body: a row per node for NODE_ATTRIBUTES, else per tet.

    Raises:
        ValueError: It has another type or shape.
    """
    stored = fields[attribute_array_name(key, name)]
    wanted: tuple[int, ...] = (node_count,) if name in NODE_ATTRIBUTES else (tet_count,)
    wanted += (3,) if name == "velocity" else ()
    if stored.dtype.kind != "f" or stored.shape != wanted:
        raise ValueError(
            f"{attribute_array_name(key, name)} has {stored.dtype.name} of the shape {stored.shape} "
            f"instead of floats of the shape {wanted}"
        )
    return stored


def attribute_array_name(key: str, name: str) -> str:
    """Returns the name of the field behind an attribute."""
    return f"attribute.{key}.{name}"
