# SPDX-License-Identifier: GPL-3.0-or-later
"""How a body is flesh: which law it obeys, how it moves, and what of an armature holds it."""

from __future__ import annotations

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, StringProperty

from .enum_items import FLESH_LAWS, FLESH_MOTIONS, JIGGLE_SCHEMES
from .material_presets import ELASTIC, NON_FLESH_SWITCHES
from .material_settings import limit_poisson_ratio
from .property_options import FIXED_OPTIONS

# of springs that hold flesh to a bone, per mass [1/s²]
DEFAULT_BONE_STIFFNESS = 30000.0


def _motion_chosen(settings: bpy.types.PropertyGroup, _context: bpy.types.Context) -> None:
    """Switches off what flesh does not do, and what only flesh that follows a pose does."""
    limit_poisson_ratio(settings)
    for name in NON_FLESH_SWITCHES:
        if settings.motion != ELASTIC and getattr(settings, name):
            setattr(settings, name, False)


class FleshSettings:
    """Motion, law, paint, and the bones of armatures."""

    motion: EnumProperty(
        name="Motion",
        items=FLESH_MOTIONS,
        default=ELASTIC,
        update=_motion_chosen,
        description="How the body moves; Follow Pose and Jiggle make it flesh, which bones can hold",
        **FIXED_OPTIONS,
    )
    flesh_law: EnumProperty(
        name="Law",
        items=FLESH_LAWS,
        default="STABLE_NEO_HOOKEAN",
        description="How flesh resists being deformed far; for small deformations they are all the same",
        **FIXED_OPTIONS,
    )
    jiggle_scheme: EnumProperty(
        name="Stepping",
        items=JIGGLE_SCHEMES,
        default="EULER",
        description="How Jiggle goes from one step of time to the next",
        **FIXED_OPTIONS,
    )
    self_contact: BoolProperty(
        name="Self Contact",
        description=(
            "Flesh lies in folds instead of going through itself, as in the bend of an elbow; slower (Follow Pose only)"
        ),
        default=True,
        **FIXED_OPTIONS,
    )
    stiffness_group: StringProperty(
        name="Paint Stiffness",
        description=(
            "Vertex group or attribute that Stiffness is multiplied with: 0.5 is half as stiff; "
            "inside, the nearest surface counts"
        ),
        **FIXED_OPTIONS,
    )
    volume_group: StringProperty(
        name="Paint Volume",
        description=(
            "Vertex group or attribute that Volume Preservation is multiplied with; inside, the nearest surface counts"
        ),
        **FIXED_OPTIONS,
    )
    density_group: StringProperty(
        name="Paint Density",
        description="Vertex group or attribute that Density is multiplied with; inside, the nearest surface counts",
        **FIXED_OPTIONS,
    )
    attachment_group: StringProperty(
        name="Paint Attachment",
        description=(
            "Vertex group or attribute: bones hold flesh only below what has a weight above one half. "
            "Empty: wherever they reach"
        ),
        **FIXED_OPTIONS,
    )
    rest_from_keys: BoolProperty(
        name="Rest Shape from Shape Keys",
        description=(
            "The shape in which the flesh is without stress follows the object's shape keys: a breath, a flexed muscle"
        ),
        default=False,
        **FIXED_OPTIONS,
    )
    use_armature_bones: BoolProperty(
        name="Armature Bones",
        description=(
            "Each bone of the object's Armature modifiers holds the flesh near its line; "
            "of several, the one whose weight is largest at the nearest skin. No bone meshes are needed"
        ),
        default=False,
        **FIXED_OPTIONS,
    )
    armature_bone_radius: FloatProperty(
        name="Radius",
        description=(
            "How near to the line of an armature's bone flesh follows it [m]. "
            "0: for each bone a third of the way to the skin that follows it, and one tet at least. "
            "Bones stay straight lines here, also those with segments"
        ),
        default=0.0,
        min=0.0,
        soft_max=1.0,
        precision=3,
        step=1,
        subtype="DISTANCE",
        unit="LENGTH",
        **FIXED_OPTIONS,
    )
    use_armature_bone_spring: BoolProperty(
        name="Springs",
        description="Springs hold the flesh to the bones of the armature; off: it is held exactly",
        default=False,
        **FIXED_OPTIONS,
    )
    armature_bone_stiffness: FloatProperty(
        name="Spring Stiffness",
        description=(
            "Stiffness of these springs per mass [1/s²]: under its own weight, what they hold gives way by "
            "a centimetre with 1000, by a third of a millimetre with 30,000. "
            "Thin bones from which much flesh hangs need more"
        ),
        default=DEFAULT_BONE_STIFFNESS,
        min=0.0,
        soft_min=100.0,
        soft_max=1.0e6,
        precision=0,
        step=100000,
        **FIXED_OPTIONS,
    )
