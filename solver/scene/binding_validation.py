# SPDX-License-Identifier: GPL-3.0-or-later
"""The check of bindings between bodies: targets that are there, no circles, and steps that all of them share."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..runtime.errors import BadInput
from .animated_material import keyed_names
from .attachment_resolution import all_bindings
from .flesh import DYNAMIC
from .formulation import BDF2, HIERARCHICAL, VERTEX_WARP, display_name
from .scene import Body, Scene
from .tracks import TrackReader

# hierarchical bodies are solved level by level, and the ghost force of warped vertices is found among all nodes
UNSUPPORTED_FORMULATIONS = (HIERARCHICAL, VERTEX_WARP)


def bound_pairs(scene: Scene) -> list[tuple[str, str]]:
    """Returns the keys of bodies and what they are bound to, which do not also collide."""
    return [(body.key, binding.target) for body in scene.bodies for _, binding in all_bindings(body)]


def check_bindings(scene: Scene) -> None:
    """Raises BadInput where bindings have no target, repeat, go in a circle, or are of bodies that step differently."""
    bodies = {body.key: body for body in scene.bodies}
    for body in scene.bodies:
        bindings = [binding for _, binding in all_bindings(body)]
        targets = [binding.target for binding in bindings]
        if any(len(binding.paint) not in (0, len(body.vertices)) for binding in bindings):
            raise BadInput("paint-without-vertices", name=body.name, setting="Binding")
        for target in targets:
            if target == body.key:
                raise BadInput("binding-to-itself", name=body.name)
            if target not in bodies:
                raise BadInput("binding-target-missing", name=body.name, target=target)
            if targets.count(target) > 1:
                raise BadInput("binding-repeated", name=body.name, target=bodies[target].name)
            _check_stepping(body, bodies[target])
    checked = set[str]()
    for body in scene.bodies:
        _check_circles(bodies, [body.key], checked)


def check_bound_bodies(scene: Scene, tracks: TrackReader) -> None:
    """Raises BadInput where a body that is bound, or is a target, has a feature that bindings do not support.

    Nor do they support keys that let go.
    """
    bound = {key for pair in bound_pairs(scene) for key in pair}
    for body in scene.bodies:
        for number, each in enumerate(body.attachments):  # also those that do not hold at rest
            if each.binds_nodes and tracks.has(f"body.{body.key}.attachment.{number}.strength"):
                target = ", ".join(other.name for other in scene.bodies if other.key in each.targets)
                raise BadInput("binding-keyed", name=body.name, target=target)
        if body.key in bound:
            for feature in _unsupported_features(body, tracks):
                raise BadInput("binding-combined", name=body.name, feature=feature)


def _check_circles(bodies: dict[str, Body], path: list[str], checked: set[str]) -> None:
    """Raises BadInput where what the last body of a path is bound to leads back into it; `checked` ones do not."""
    if path[-1] in checked:
        return
    for _, binding in all_bindings(bodies[path[-1]]):
        if binding.target in path:
            circle = [*path[path.index(binding.target) :], binding.target]
            raise BadInput("binding-circle", names=" → ".join(f'"{bodies[key].name}"' for key in circle))
        _check_circles(bodies, [*path, binding.target], checked)
    checked.add(path[-1])


def _check_stepping(body: Body, target: Body) -> None:
    own, other = _stepping(body), _stepping(target)
    if own != other:
        raise BadInput("binding-stepping", name=body.name, target=target.name, own=own, other=other)


def _stepping(body: Body) -> str:
    """Returns how a body goes from step to step, in words."""
    if body.flesh is not None:
        return "Newmark" if body.flesh.motion == DYNAMIC and body.flesh.scheme == "newmark" else "implicit Euler"
    return "BDF2" if body.method.scheme == BDF2 else "implicit Euler"


def features_without_bound_nodes(body: Body, tracks: TrackReader) -> Iterator[str]:
    """Yields the features of a body that no bound nodes support, those of bindings or at T-junctions."""
    if body.follows_pose:
        yield "Follow Pose"
    if body.heat is not None:
        yield "Heat"
    if body.flesh is None and body.method.name in UNSUPPORTED_FORMULATIONS:
        yield f"the Method {display_name(body.method)}"
    if body.gravity_in_shape:
        yield "Gravity Already in Shape"
    if keyed_names(body, tracks):
        yield "keys on its material"


def _unsupported_features(body: Body, tracks: TrackReader) -> Iterator[str]:
    yield from features_without_bound_nodes(body, tracks)
    if body.fracture is not None:
        yield "Fracture"
    if any(body.initial_spin):
        yield "Initial Spin"
    if body.animated:
        yield "Animated"
    # their springs go by the masses of nodes, and bound ones have none
    has_bindings = bool(all_bindings(body))
    if has_bindings and body.goal is not None:
        yield "Goal"
    if has_bindings and (np.asarray(body.pin_weights) < 1.0).any():
        yield "pins of less than full strength"
