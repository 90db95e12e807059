# SPDX-License-Identifier: GPL-3.0-or-later
"""Places of bodies that are pulled while they run; the child holds the springs."""

from __future__ import annotations

import bpy
import numpy as np

from ...solver.runtime.arrays import Floats
from ..baking.live_state import Grab, LiveRun
from ..blender_data.scene_by_session_uid import find_scene
from ..evaluation.matrix_units import transform_points
from .grabbed_group import shares_around


def body_of(run: LiveRun, obj: bpy.types.Object) -> str | None:
    """Returns the key of the body that an object is in a run, or None."""
    return next((key for key, handle in run.bodies.items() if handle.uid == obj.session_uid), None)


def take(run: LiveRun, key: str, place: Floats, radius: float) -> int:
    """Takes the vertex of a body that is nearest to a place, with what is within a radius; returns the grab's number.

    Args:
        run: It.
        key: Of the body.
        place: World [Blender units], (3,).
        radius: The same units; 0: the vertex alone.
    """
    run.last_grab += 1
    vertices = shown_vertices(run, key)
    nearest = int(np.argmin(np.linalg.norm(vertices - place, axis=1))) if len(vertices) else 0
    run.grabs[run.last_grab] = Grab(key, nearest, np.array(place, np.float64))
    _send_take(run, run.last_grab, place, radius)
    return run.last_grab


def take_again(run: LiveRun, number: int, radius: float) -> None:
    """Takes what is around a grabbed vertex with another radius, and goes on pulling to the same place."""
    grab = run.grabs.get(number)
    point = None if grab is None else grabbed_point(run, grab)
    if grab is not None and point is not None:
        _send_take(run, number, point, radius)
        move(run, number, grab.hand)


def move(run: LiveRun, number: int, place: Floats) -> None:
    """Pulls a grab to another place, world [Blender units], (3,)."""
    grab = run.grabs.get(number)
    if grab is not None:
        grab.hand = np.array(place, np.float64)
        run.send({"command": "move", "grab": number, "place": _metres(run, place)})


def release(run: LiveRun, number: int) -> None:
    """Lets a grab go."""
    if run.grabs.pop(number, None) is not None:
        run.send({"command": "release", "grab": number})


def shown_vertices(run: LiveRun, key: str) -> Floats:
    """Returns the vertices of a body in the newest sample, world [Blender units], (n, 3); none where there is none."""
    obj, head = run.bodies[key].find(), None if run.reader is None else run.reader.newest()
    if obj is None or head is None or run.reader is None:
        return np.zeros((0, 3))
    found = run.reader.positions(key, head)
    return (
        np.zeros((0, 3))
        if found is None
        else transform_points(np.array(obj.matrix_world, np.float64), found.astype(np.float64))
    )


def grabbed_point(run: LiveRun, grab: Grab) -> Floats | None:
    """Returns where the grabbed vertex is now, world [Blender units], (3,)."""
    vertices = shown_vertices(run, grab.body)
    return vertices[grab.vertex] if grab.vertex < len(vertices) else None


def _send_take(run: LiveRun, number: int, place: Floats, radius: float) -> None:
    body, unit = run.grabs[number].body, _unit(run)
    given = {"command": "grab", "grab": number, "body": body, "place": _metres(run, place), "radius": radius * unit}
    run.send({**given, **shares_around(shown_vertices(run, body), run.grabs[number].vertex, radius)})


def _metres(run: LiveRun, place: Floats) -> list[float]:
    return [float(value) * _unit(run) for value in place]


def _unit(run: LiveRun) -> float:
    scene = find_scene(run.scene_uid)
    return 1.0 if scene is None else float(scene.unit_settings.scale_length)
