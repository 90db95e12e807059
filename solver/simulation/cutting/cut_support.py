# SPDX-License-Identifier: GPL-3.0-or-later
"""What cannot be cut yet, or cannot be in a scene in which a body is cut: refused before anything has changed."""

from __future__ import annotations

from collections.abc import Iterator

from ...constraints.attachments.surface_attachments import SurfaceAttachments
from ...constraints.fields.field_force import FieldForce
from ...constraints.goal import BodyGoal
from ...constraints.hooks import BodyHook
from ...constraints.pins import BodyPins
from ...constraints.rigid_core.core_drivers import CoreSpring
from ...constraints.rigid_core.rigid_damping import RigidDamping
from ...constraints.stretch_limit import StretchLimits
from ...runtime.errors import BadInput
from ...scene.formulation import HIERARCHICAL, display_name
from ...scene.scene import Body, Scene
from ..assembled_scene import AssembledScene
from ..features.registry import FEATURES

# forces that know nodes by render vertices alone, act tet by tet, or are kept as they are
FOLLOWING_FORCES = (BodyPins, BodyGoal, BodyHook, StretchLimits)
FORCES_OF_RIGID_BODIES = (CoreSpring, RigidDamping)


def check_may_be_cut(built: AssembledScene, scene: Scene, number: int, *, has_skin: bool) -> None:
    """Makes sure that a body can be cut, in a scene that may have been cut before.

    Args:
        built, scene: The scene.
        number: Of the body.
        has_skin: Whether who cuts it has cut its skin, too.

    Raises:
        BadInput: "cutting-combined", "cutting-beside", "cutting-contact": the body, or another one, has what does not
            go on after a cut.
    """
    body = scene.bodies[number]
    for feature in (*_features_of_body(body), *_features_of_scene(built), *_acting_features(built, number)):
        raise BadInput("cutting-combined", name=body.name, feature=feature)
    if body.follows_pose and (has_skin or (body.flesh is not None and body.flesh.self_contact)):
        raise BadInput("cutting-combined", name=body.name, feature="Self Collisions")
    for other in scene.bodies:
        for feature in _features_beside(other, is_other=other.key != body.key):
            raise BadInput("cutting-beside", name=body.name, other=other.name, feature=feature)
    if built.contact_materials is not None and not has_skin:
        raise BadInput("cutting-contact", name=body.name)


def _features_of_body(body: Body) -> Iterator[str]:
    """Yields what a body has that copies of its tets cannot take over yet."""
    if body.is_rigid:
        yield "Rigid"
    if body.core is not None:
        yield "Rigid Core"
    if body.surface_detail is not None:
        yield "Surface Detail"
    if body.gravity_in_shape:
        yield "Gravity Already in Shape"
    if body.wrap_vertices:
        yield "a Wrap"
    if body.method.name == HIERARCHICAL and body.flesh is None:
        yield f"the Method {display_name(body.method)}"


def _acting_features(built: AssembledScene, number: int) -> Iterator[str]:
    """Yields the features of a body and the forces on it that do not follow a cut yet."""
    if any(shape.number == number for shape in built.animated_rest_shapes):
        yield "Rest Shape Follows Shape Keys"
    for force in built.forces:
        if isinstance(force, (*FOLLOWING_FORCES, *FORCES_OF_RIGID_BODIES)) or force is built.bones:
            continue
        if isinstance(force, SurfaceAttachments):
            yield from _attachments_that_stay(force, number)
            continue
        acting = force.restricted_to((number,))
        presses = not isinstance(acting, FieldForce) or acting.faces is not None
        if acting is not None and presses:
            yield force.kind.capitalize()
    if any(not isinstance(feature, FEATURES) for feature in built.features):
        yield "the brushes of a live run"


def _attachments_that_stay(force: SurfaceAttachments, number: int) -> Iterator[str]:
    """Yields what attachments of a body, or to it, do not follow a cut: all others begin at its points.

    Where they end on it, and where edges do, is found by place, and copies of a tet are all at one.
    """
    if any(links.target.body == number for links in force.links):
        yield "attachments of others to it"
    if any(links.body == number and links.are_edges for links in force.links):
        yield "attachments by edges"


def _features_of_scene(built: AssembledScene) -> Iterator[str]:
    """Yields what a scene has beside which no body can be cut yet."""
    if built.exact_contact is not None:
        yield "Exact contact"
    if built.model.bound is not None:
        yield "exact attachments or tets of several sizes"
    if built.levels:
        yield "Refine While Simulating"


def _features_beside(body: Body, *, is_other: bool) -> Iterator[str]:
    """Yields what a body has beside which none can be cut yet, mostly itself included."""
    if body.is_sheet:
        yield "Cloth or Strands"
    if body.fracture is not None:
        yield "Fracture"
    if body.follows_pose and is_other:
        yield "Follow Pose"
