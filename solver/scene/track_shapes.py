# SPDX-License-Identifier: GPL-3.0-or-later
"""The shapes of the values of each track of a scene.

Left out are the tracks of vertices that deform: whoever reads them compares them with the mesh, and names it.
"""

from __future__ import annotations

from .animated_material import MATERIAL_TRACKS
from .attachment import FRAME
from .force_fields import ANIMATED_FIELD_NUMBERS
from .scene import Body, Scene
from .settings.activation_settings import HEAD_ACTIVATION, MUSCLE_STRENGTH
from .settings.field_settings import FIELD_WEIGHTS
from .settings.muscle_settings import ACTIVATION
from .settings.pressure_settings import PRESSURE, TARGET_VOLUME
from .settings.rest_scale_settings import REST_SCALE
from .settings.size_and_start_settings import ANIMATED
from .settings.stretch_limit_settings import STRETCH_LIMIT

Shape = tuple[int, ...]
# how much of a muscle's activation its source made: the solver reads "activation", which has it in it
ACTIVATION_SOURCE_TRACK = "activation_source"
MATRIX_SHAPE, POINT_SHAPE, SCALAR_SHAPE = (4, 4), (3,), ()


def track_shapes(scene: Scene) -> dict[str, Shape]:
    """Returns the shapes of the values of all tracks that a scene may have, by name."""
    found: dict[str, Shape] = {"gravity": POINT_SHAPE, "air_temperature": SCALAR_SHAPE, "speed": SCALAR_SHAPE}
    for body in scene.bodies:
        found |= {f"body.{body.key}.{name}": shape for name, shape in _body_track_shapes(body).items()}
    for collider in scene.colliders:
        surface = collider.attached_surface
        strengths = [f"attachment.{number}.strength" for number in range(len(surface.attachments) if surface else 0)]
        names = {"matrix": MATRIX_SHAPE, **dict.fromkeys(("active", "cuts", *strengths), SCALAR_SHAPE)}
        found |= {f"collider.{collider.key}.{name}": shape for name, shape in names.items()}
    for source in scene.heat_sources:
        names = {"matrix": MATRIX_SHAPE, "temperature": SCALAR_SHAPE, "exchange": SCALAR_SHAPE}
        found |= {f"heat.{source.key}.{name}": shape for name, shape in names.items()}
    for field in scene.force_fields:
        numbers = dict.fromkeys((f"field.{field.key}.{name}" for name in ANIMATED_FIELD_NUMBERS), SCALAR_SHAPE)
        found |= {f"field.{field.key}.matrix": MATRIX_SHAPE, **numbers}
    for joint in scene.joints:
        found |= {f"joint.{joint.key}.matrix": MATRIX_SHAPE, f"joint.{joint.key}.enabled": SCALAR_SHAPE}
    return found | {f"bone.{bone.key}.matrix": MATRIX_SHAPE for bone in scene.bones}


def track_names(scene: Scene) -> set[str]:
    """Returns the names of all tracks that a scene may have, those of vertices that deform included."""
    deforming = [f"body.{body.key}.rest" for body in scene.bodies]
    deforming += [f"collider.{collider.key}.vertices" for collider in scene.colliders]
    deforming += [f"bone.{bone.key}.vertices" for bone in scene.bones]
    deforming += [f"field.{field.key}.vertices" for field in scene.force_fields]
    return {*track_shapes(scene), *deforming}


def _body_track_shapes(body: Body) -> dict[str, Shape]:
    pins, plastic = ("pin_stiffness", "attached.pin_stiffness"), ("yield_strain", "flow", "maximum_strain")
    weights = [setting.name for setting in FIELD_WEIGHTS]
    numbers = (
        "goal_strength",
        ANIMATED.name,
        PRESSURE.name,
        TARGET_VOLUME.name,
        *pins,
        *plastic,
        "breaking_stress",
        *MATERIAL_TRACKS,
        REST_SCALE.name,
        STRETCH_LIMIT.name,
        ACTIVATION.name,
        ACTIVATION_SOURCE_TRACK,
        MUSCLE_STRENGTH.name,
        *(f"head.{number}.{HEAD_ACTIVATION.name}" for number in range(len(body.muscle.heads) if body.muscle else 0)),
        *weights,
    )
    strengths = (f"attachment.{number}.strength" for number in range(len(body.attachments)))
    frames = (f"attachment.{number}" for number, each in enumerate(body.attachments) if FRAME in each.targets)
    hooks = [f"hook.{number}" for number in range(len(body.hooks))]
    return {
        **dict.fromkeys((*strengths, *(f"{hook}.strength" for hook in hooks)), SCALAR_SHAPE),
        **{f"{place}.matrix": MATRIX_SHAPE for place in (*frames, *hooks)},
        "matrix": MATRIX_SHAPE,
        "targets": (len(body.pinned), 3),
        "attached.targets": (len(body.attached), 3),
        "goal.targets": (len(body.vertices), 3),
        "animated.targets": (len(body.vertices), 3),
        "hinge": MATRIX_SHAPE,
        "pull": POINT_SHAPE,
        **dict.fromkeys(numbers, SCALAR_SHAPE),
    }
