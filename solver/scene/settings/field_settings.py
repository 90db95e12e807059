# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of how much a body feels gravity and Blender's force fields: its field weights, charge and particle size."""

from __future__ import annotations

from ..serialisation.schema_constraints import at_least, closed_range
from .setting import COLLECTION, FIELD_DEFAULT, Setting, When, length

FEELS_FIELDS = When("motion", ("ELASTIC", "JIGGLE", "BRITTLE"))
MAX_WEIGHT = 200.0  # as Blender's


def _weight(name: str, label: str, tooltip: str) -> Setting:
    return Setting(
        f"weight_{name}",
        label,
        tooltip,
        default=1.0,
        limits=closed_range(0.0, MAX_WEIGHT, label),
        soft=(None, 1.0),
        is_share=True,
        # flesh in poses comes to rest under its gravity, too
        when=() if name == "gravity" else (FEELS_FIELDS,),
        field=f"FieldWeights.{name}",
        otherwise=FIELD_DEFAULT,
        is_animated=True,
        since="0.3",
    )


EFFECTOR_COLLECTION = Setting(
    "effector_collection",
    "Effector Collection",
    "Only force fields in this collection act on the body. No collection: all of the scene",
    COLLECTION,
    None,
    when=(FEELS_FIELDS,),
    changes_bake=False,  # the fields that it leaves out are in the digest
    since="0.3",
)
FIELD_WEIGHTS = (
    _weight("gravity", "Gravity", "How much gravity acts on the body. 0 lets it float"),
    _weight("all", "All", "How much all force fields act on the body"),
    _weight("force", "Force", "How much force fields of the type Force act"),
    _weight("vortex", "Vortex", "How much vortices act"),
    _weight("magnetic", "Magnetic", "How much magnetic fields act"),
    _weight("harmonic", "Harmonic", "How much harmonic fields act"),
    _weight("charge", "Charge", "How much charge fields act"),
    _weight("lennardjones", "Lennard-Jones", "How much Lennard-Jones fields act"),
    _weight("wind", "Wind", "How much wind acts"),
    _weight("texture", "Texture", "How much texture fields act"),
    _weight("turbulence", "Turbulence", "How much turbulence acts"),
    _weight("drag", "Drag", "How much drag acts"),
)
FIELD_CHARGE = Setting(
    "field_charge",
    "Charge",
    "What charge fields multiply their strength by. Equal signs repel. Blender's particles have theirs from a field "
    "of the type Charge",
    default=1.0,
    term="Electric charge over mass",
    limits=closed_range(-1.0e6, 1.0e6, "Charge"),
    soft=(-10.0, 10.0),
    when=(FEELS_FIELDS,),
    field="FieldWeights.own_charge",
    otherwise=FIELD_DEFAULT,
    since="0.3",
)
FIELD_SIZE = length(
    "field_size",
    "Particle Size",
    "Lennard-Jones fields repel what is nearer than this and attract what is farther, as they do Blender's particles "
    "of this Size",
    0.05,
    limits=at_least(0.0, "Particle Size", "m"),
    when=(FEELS_FIELDS,),
    field="FieldWeights.particle_size",
    otherwise=FIELD_DEFAULT,
    since="0.3",
)
FIELD_SETTINGS = (EFFECTOR_COLLECTION, *FIELD_WEIGHTS, FIELD_CHARGE, FIELD_SIZE)

FIELD_ABSORPTION = Setting(
    "field_absorption",
    "Field Absorption",
    "How much of a force field with Absorption this collider keeps from what is behind it, seen from the field",
    default=0.0,
    limits=closed_range(0.0, 1.0, "Field Absorption"),
    is_share=True,
    field="Collider.absorption",
    since="0.3",
)
