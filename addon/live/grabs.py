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


def take(run: LiveRun, key: str, place: Floats, radius: float, strength: float = 1.0) -> int:
    """Takes the vertex of a body that is nearest to a place, with what is within a radius; returns the grab's number.

    Args:
        run: It.
        key: Of the body.
        place: World [Blender units], (3,).
        radius: The same units; 0: the vertex alone.
        strength: Factor on the stiffness of the spring.
    """
    run.last_grab += 1
    generation, hand = _newest_generation(run, key) or 0, np.array(place, np.float64)
    nearest = _nearest(shown_vertices(run, key, generation), hand)
    run.grabs[run.last_grab] = Grab(key, nearest, hand, generation, hand, strength=strength)
    _send_take(run, run.last_grab, place, radius)
    return run.last_grab


def take_again(run: LiveRun, number: int, radius: float) -> None:
    """Takes what is around a grabbed vertex with another radius, and goes on pulling to the same place."""
    grab = run.grabs.get(number)
    if grab is not None:
        _send_take(run, number, grabbed_point(run, grab), radius)
        move(run, number, grab.hand)


def move(run: LiveRun, number: int, place: Floats, strength: float | None = None) -> None:
    """Pulls a grab to another place, world [Blender units], (3,), with another strength; None: the same."""
    grab = run.grabs.get(number)
    if grab is not None:
        grab.hand = np.array(place, np.float64)
        changed = {} if strength is None or strength == grab.strength else {"strength": strength}
        grab.strength = changed.get("strength", grab.strength)
        run.send({"command": "move", "grab": number, "place": _metres(run, place), **changed})


def release(run: LiveRun, number: int) -> None:
    """Lets a grab go."""
    if run.grabs.pop(number, None) is not None:
        run.send({"command": "release", "grab": number})


def shown_vertices(run: LiveRun, key: str, generation: int | None = None) -> Floats:
    """Returns the vertices of a body in the newest sample, world [Blender units], (n, 3); none where there is none.

    Args:
        run: It.
        key: Of the body.
        generation: Of its mesh, as `SampleReader.positions` takes it.
    """
    obj, head = run.bodies[key].find(), None if run.reader is None else run.reader.newest()
    if obj is None or head is None or run.reader is None:
        return np.zeros((0, 3))
    try:
        found = run.reader.positions(key, head, generation)
    except (OSError, ValueError):  # the child has just deleted the file for a newer one
        found = None
    return (
        np.zeros((0, 3))
        if found is None
        else transform_points(np.array(obj.matrix_world, np.float64), found.astype(np.float64))
    )


def grabbed_point(run: LiveRun, grab: Grab) -> Floats:
    """Returns where the grabbed vertex was seen last, in the newest sample if it can, world [Blender units], (3,).

    A vertex of the whole mesh keeps its number, since the whole mesh is still written when the body is torn. One of a
    torn mesh has another number after the next tear: that of the vertex which is nearest to where it was last.
    """
    newest = _newest_generation(run, grab.body)
    if newest is None:
        return grab.point
    is_renumbered = grab.generation not in (0, newest)
    vertices = shown_vertices(run, grab.body, newest if is_renumbered else grab.generation)
    if is_renumbered and len(vertices):
        grab.vertex, grab.generation = _nearest(vertices, grab.point), newest
    if grab.vertex < len(vertices):
        grab.point = vertices[grab.vertex]
    return grab.point


def _newest_generation(run: LiveRun, key: str) -> int | None:
    """Returns the generation of a body in the newest sample; None: there is none, or it is being written."""
    head = None if run.reader is None else run.reader.newest()
    return None if head is None or run.reader is None else run.reader.generation_of(key, head)


def _nearest(vertices: Floats, place: Floats) -> int:
    return int(np.argmin(np.linalg.norm(vertices - place, axis=1))) if len(vertices) else 0


def _send_take(run: LiveRun, number: int, place: Floats, radius: float) -> None:
    grab, unit = run.grabs[number], _unit(run)
    given = {
        "command": "grab",
        "grab": number,
        "body": grab.body,
        "place": _metres(run, place),
        "radius": radius * unit,
    }
    shown = shown_vertices(run, grab.body, grab.generation)
    held = shares_around(shown, grab.vertex, radius) if grab.vertex < len(shown) else {}
    run.send({**given, **held, **({} if grab.strength == 1.0 else {"strength": grab.strength})})


def _metres(run: LiveRun, place: Floats) -> list[float]:
    return [float(value) * _unit(run) for value in place]


def _unit(run: LiveRun) -> float:
    scene = find_scene(run.scene_uid)
    return 1.0 if scene is None else float(scene.unit_settings.scale_length)
