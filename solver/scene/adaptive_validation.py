# SPDX-License-Identifier: GPL-3.0-or-later
"""The check of bodies with the fill Adaptive: what nodes at T-junctions, which move with others, cannot do."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ..runtime.errors import BadInput
from .attachment_resolution import all_bindings
from .binding_validation import features_without_bound_nodes
from .formulation import BDF2, DEFAULT_FORMULATION, POLAR, display_name, with_unread_defaults
from .meshing import ADAPTIVE
from .scene import Body, Scene
from .tracks import TrackReader


def check_adaptive_bodies(scene: Scene, tracks: TrackReader) -> None:
    """Raises BadInput where an adaptive body has a feature that T-junctions do not support, or paint that is not its.

    Bodies that may break are filled with other tets, and are not asked.
    """
    for body in scene.bodies:
        if not is_adaptive(body):
            continue
        fine = body.meshing.fine
        if fine is not None and len(fine.paint) not in (0, len(body.vertices)):
            raise BadInput("paint-without-vertices", name=body.name, setting="Fine Group")
        for feature in _unsupported_features(body, tracks):
            raise BadInput("adaptive-combined", name=body.name, feature=feature)
        if body.meshing.refines_dynamically:
            _check_switched_body(scene, body, tracks)


def check_no_dynamic_refinement(scene: Scene) -> None:
    """Raises BadInput where tets of a body change their sizes, which they cannot in live runs."""
    for body in scene.bodies:
        if is_adaptive(body) and body.meshing.refines_dynamically:
            raise BadInput("levels-live", name=body.name)


def is_adaptive(body: Body) -> bool:
    """Whether tets of a body are of several sizes, with T-junctions between them."""
    return body.meshing.method == ADAPTIVE and body.fracture is None


def _check_switched_body(scene: Scene, body: Body, tracks: TrackReader) -> None:
    """Raises BadInput where a body whose tets change their sizes, or another in its scene, has what does not go on."""
    for feature in _features_without_switched_levels(scene, body, tracks):
        raise BadInput("levels-combined", name=body.name, feature=feature)
    for other in scene.bodies:
        for feature in _features_beside_switched_levels(other):
            raise BadInput("levels-beside", name=body.name, other=other.name, feature=feature)


def _features_without_switched_levels(scene: Scene, body: Body, tracks: TrackReader) -> Iterator[str]:
    """Yields the features of a body that cannot go on when its tets change."""
    if body.flesh is not None:
        yield "Flesh"
    method = with_unread_defaults(body.method)
    if method.name != POLAR:
        yield f"the Method {display_name(method)}"
    if replace(method, scheme=DEFAULT_FORMULATION.scheme) != DEFAULT_FORMULATION:
        yield "other rotations than Nearest in every step"
    if method.scheme == BDF2:
        yield "the Stepping BDF2"
    if body.plasticity is not None:
        yield "Plasticity"
    if body.material_paint.is_painted:
        yield "painted materials"
    if body.rest_scale.scale != 1.0 or tracks.has(f"body.{body.key}.rest_scale"):
        yield "Rest Scale"
    if body.surface_detail is not None:
        yield "Surface Detail"
    if body.start is not None:
        yield "the shape at the start that was kept from a live run"
    if any(body.key in (each.key, binding.target) for each in scene.bodies for _, binding in all_bindings(each)):
        yield "exact attachments"


def _features_beside_switched_levels(other: Body) -> Iterator[str]:
    """Yields the features of another body that cannot go on when tets change."""
    if other.fracture is not None:
        yield "Fracture"
    if other.flesh is not None:
        yield "Flesh"
    if other.gravity_in_shape:
        yield "Gravity Already in Shape"
    if other.method.scheme == BDF2:
        yield "the Stepping BDF2"


def may_have_bound_nodes(body: Body) -> bool:
    """Whether nodes of a body may hang on others: at T-junctions, or those of a sheet that points carry."""
    sheet = body.sheet
    return is_adaptive(body) or (body.is_sheet and (sheet.closes_t_junctions or sheet.is_carried_by_points))


def _unsupported_features(body: Body, tracks: TrackReader) -> Iterator[str]:
    yield from features_without_bound_nodes(body, tracks)
    if body.muscle is not None:
        yield "Muscle"
    if body.core is not None:
        yield "Rigid Core"
    if body.animated or tracks.has(f"body.{body.key}.animated"):
        yield "Animated"
    if tracks.has(f"body.{body.key}.rest"):
        yield "Rest Shape Follows Shape Keys"
