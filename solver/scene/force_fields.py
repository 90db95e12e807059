# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's force fields as parts of a scene, and how much bodies feel them.

The settings are those of Blender's `FieldSettings`, with its words. Distances, velocities and strengths of a field are
in Blender units, since its fall-offs are: (1 + r)⁻ᵖ is not the same in metres.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

import numpy as np

from ..runtime.arrays import Floats, Indices
from .serialisation.schema_constraints import OneOf, RowsOf, at_least, finite_number, greater_than, points, shape
from .serialisation.sequence_coercion import convert_sequences
from .settings.field_settings import FIELD_CHARGE, FIELD_SIZE, FIELD_WEIGHTS

(
    FORCE, WIND, VORTEX, MAGNETIC, HARMONIC, CHARGE, LENNARD_JONES, TEXTURE, TURBULENCE, DRAG,
) = FIELD_KINDS = (
    "force", "wind", "vortex", "magnetic", "harmonic", "charge", "lennardjones", "texture", "turbulence", "drag",
)  # fmt: skip
POINT, LINE, PLANE, SURFACE, POINTS = FIELD_SHAPES = ("point", "line", "plane", "surface", "points")
SPHERE, TUBE, CONE = FALLOFFS = ("sphere", "tube", "cone")
BOTH, POSITIVE, NEGATIVE = Z_DIRECTIONS = ("both", "positive", "negative")
# numbers of a field that may have the track "field.KEY.NAME"
ANIMATED_FIELD_NUMBERS = (
    "strength", "flow", "damping", "size", "noise", "power", "distance_min", "distance_max", "radial_power",
    "radial_min", "radial_max", "wind_factor",
)  # fmt: skip

Finite = Annotated[float, finite_number()]
NotNegative = Annotated[float, at_least(0.0)]
WEIGHT_LIMITS = {setting.name.removeprefix("weight_"): setting.limits for setting in FIELD_WEIGHTS}


@dataclass(frozen=True)
class TextureGrid:
    """What a texture field pushes with, without strength and fall-off, at the points of a grid; linear between them.

    Attributes:
        lower: The first point [Blender units], (3,).
        spacing: Between points along each axis [Blender units], (3,).
        values: At the points, (k, l, m, 3). Outside of the grid the nearest value holds.
    """

    lower: Annotated[Floats, shape(3)]
    spacing: Annotated[Floats, shape(3)]
    values: Annotated[Floats, shape("k", "l", "m", 3)]


@dataclass(frozen=True)
class ForceField:
    """A force field.

    Tracks: "field.KEY.matrix" (4, 4), world [m] ← its space [m]; "field.KEY.vertices" (n, 3), `vertices` now [m],
    world, where its mesh deforms; and "field.KEY.NAME" () of each of `ANIMATED_FIELD_NUMBERS` that is animated.

    Attributes:
        kind, shape, falloff, z_direction: Of `FIELD_KINDS`, `FIELD_SHAPES`, `FALLOFFS`, `Z_DIRECTIONS`.
        strength, flow: Of the force, and of the air that it becomes.
        damping: Of "harmonic", the ratio to the critical one; of "drag", the factor of the velocity.
        size: Of "harmonic", the rest length; of "turbulence", that of the noise.
        noise, seed: Amplitude of a random strength, another one on each frame, and what it begins from.
        power, distance_min, distance_max: Of the fall-off along the distance; it is 1 below the least one and 0 beyond
            the greatest, where the switches say so.
        radial_power, radial_min, radial_max: The same of the distance from the axis (tube) or the angle to it [°]
            (cone).
        wind_factor: The share that presses on surfaces that face it instead of pushing all material.
        has_gravitation: Whether "force" falls with the square of the distance besides.
        is_global: Whether the noise of "turbulence" lies still in the world.
        is_object_space: Whether a texture moves with the object.
        is_2d: Whether a texture is the same along the z axis of the object, and does not push along it.
        is_absorbed: Whether colliders with an absorption keep it from what is behind them.
        unit: Metres in a Blender unit.
        vertices, triangles: The mesh of the shapes "surface" and "points" in the field's space [m], (n, 3) and (t, 3).
        texture: Of "texture"; None for others.
    """

    key: str = "field"
    name: str = "Field"
    kind: Annotated[str, OneOf(FIELD_KINDS)] = FORCE
    shape: Annotated[str, OneOf(FIELD_SHAPES)] = POINT
    falloff: Annotated[str, OneOf(FALLOFFS)] = SPHERE
    z_direction: Annotated[str, OneOf(Z_DIRECTIONS)] = BOTH
    strength: Finite = 1.0
    flow: Finite = 0.0
    damping: Finite = 1.0
    size: NotNegative = 0.0
    noise: NotNegative = 0.0
    seed: Annotated[int, at_least(0)] = 1
    power: NotNegative = 0.0
    use_distance_min: bool = False
    distance_min: NotNegative = 0.0
    use_distance_max: bool = False
    distance_max: NotNegative = 0.0
    radial_power: NotNegative = 0.0
    use_radial_min: bool = False
    radial_min: NotNegative = 0.0
    use_radial_max: bool = False
    radial_max: NotNegative = 0.0
    wind_factor: Annotated[float, at_least(0.0)] = 0.0
    has_gravitation: bool = False
    is_global: bool = False
    is_object_space: bool = False
    is_2d: bool = False
    is_absorbed: bool = False
    unit: Annotated[float, greater_than(0.0)] = 1.0
    vertices: Annotated[Floats, points("n", 3)] = field(default_factory=lambda: np.zeros((0, 3)))
    triangles: Annotated[Indices, shape("t", 3), RowsOf("vertices")] = field(
        default_factory=lambda: np.zeros((0, 3), np.int32)
    )
    texture: TextureGrid | None = None

    def __post_init__(self) -> None:
        """Takes lists for arrays."""
        convert_sequences(self)


@dataclass(frozen=True)
class FieldWeights:
    """How much gravity and force fields act on a body; each number but the last two may have the track
    "body.KEY.weight_NAME".

    Attributes:
        gravity, all: Factors on gravity and on all fields.
        force, vortex, magnetic, harmonic, charge, lennardjones, wind, texture, turbulence, drag: Factors on the fields
            of each kind.
        own_charge: What "charge" fields act on.
        particle_size: What "lennardjones" fields take for its size [m].
        excluded: Keys of fields that do not act on the body.
    """

    gravity: Annotated[float, WEIGHT_LIMITS["gravity"]] = 1.0
    all: Annotated[float, WEIGHT_LIMITS["all"]] = 1.0
    force: Annotated[float, WEIGHT_LIMITS["force"]] = 1.0
    vortex: Annotated[float, WEIGHT_LIMITS["vortex"]] = 1.0
    magnetic: Annotated[float, WEIGHT_LIMITS["magnetic"]] = 1.0
    harmonic: Annotated[float, WEIGHT_LIMITS["harmonic"]] = 1.0
    charge: Annotated[float, WEIGHT_LIMITS["charge"]] = 1.0
    lennardjones: Annotated[float, WEIGHT_LIMITS["lennardjones"]] = 1.0
    wind: Annotated[float, WEIGHT_LIMITS["wind"]] = 1.0
    texture: Annotated[float, WEIGHT_LIMITS["texture"]] = 1.0
    turbulence: Annotated[float, WEIGHT_LIMITS["turbulence"]] = 1.0
    drag: Annotated[float, WEIGHT_LIMITS["drag"]] = 1.0
    own_charge: Annotated[float, FIELD_CHARGE.limits] = 1.0
    particle_size: Annotated[float, FIELD_SIZE.limits] = 0.05
    excluded: tuple[str, ...] = ()
