# SPDX-License-Identifier: GPL-3.0-or-later
"""Colliders, and how bodies meet others and themselves, as part of a scene. Lengths are in metres."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

import numpy as np

from ..runtime.arrays import Floats, Indices
from .attachment import AttachedSurface, drop_unused_fields
from .serialisation import schema_constraints
from .serialisation.schema_constraints import OneOf, RowsOf
from .serialisation.sequence_coercion import convert_sequences
from .settings.collision_settings import BODY_FRICTION, COLLIDER_FRICTION
from .settings.collision_settings import COLLIDER_SIDES as SIDES_SETTING
from .settings.field_settings import FIELD_ABSORPTION
from .settings.setting import THICKNESS_LIMITS

# which sides of a collider's faces bodies are kept on (`Collider.sides`)
COLLIDER_SIDES = SIDES_SETTING.words
SIDES_AUTO, SIDES_FRONT, SIDES_BOTH = COLLIDER_SIDES
# what a collider may be (`Collider.shape`)
COLLIDER_SHAPES = ("plane", "mesh")
Faces = Annotated[Indices, schema_constraints.shape("t", 3), RowsOf("vertices")]


@dataclass(frozen=True)
class Collision:
    """How a body meets other bodies and itself.

    Attributes:
        friction: Coulomb's μ ≥ 0 against other bodies, where √(μ_a μ_b) holds. Against a collider its friction holds.
        thickness: Others keep this distance [m]; against a collider its thickness is added.
        self_contact: Whether the body does not go through itself. Once it broke its pieces do not go through each
            other, and each of them may go through itself. Flesh that follows a pose reads `Flesh.self_contact` instead.
    """

    friction: Annotated[float, BODY_FRICTION.limits] = BODY_FRICTION.default
    thickness: Annotated[float, THICKNESS_LIMITS] = 0.0
    self_contact: bool = False


@dataclass(frozen=True)
class Collider:
    """A collider: at rest, moving rigidly, or deforming.

    Tracks: one of these, where it does not stand still,
        "collider.KEY.matrix" (4, 4): world [m] ← the space of `vertices`, rigid up to a constant scale or shear
            (interpolated as rotation and translation);
        "collider.KEY.vertices" (n, 3): `vertices` now [m], world, for what deforms. A matrix beside it only says where
            the origin is that torques are about.
    "collider.KEY.active" (): above ½ while bodies feel it, at the sample before as well as at the one after.
    "collider.KEY.cuts" (): what the exporter found half-way to a sample, where it evaluated that
    (`contact/colliders/teleports.py`): 1 where it was
        at one of the two places, 2 where it was on its way, else 0.

    Attributes:
        shape: "plane" (the half-space below local z = 0; no vertices) or "mesh".
        vertices, triangles: The mesh in its own space, or in the world at the first sample where it deforms [m],
            (n, 3) and (t, 3).
        friction: Coulomb's μ ≥ 0.
        thickness: Bodies keep this distance [m].
        sides: Of `COLLIDER_SIDES`: "auto" (closed meshes have an inside, open ones two sides), "front" (bodies are kept
            where the normals point, also by an open mesh), "both" (nothing passes, whichever side it comes from).
        absorption: The share of a force field that it keeps from what is behind it.
        rest_vertices: Of a body of an earlier pass: `vertices` as it was modeled [m], world, where attachments begin;
            (0, 3): as at the first sample.
        keeps_overlap: Whether flesh that follows a pose stays as deep in it as at rest, where `rest_vertices` say,
            as it does in flesh that is baked with it.
        attached_surface: What attaches it to bodies, from where `rest_vertices` say; None: nothing does.
    """

    key: str = "collider"
    name: str = "Collider"
    shape: Annotated[str, OneOf(COLLIDER_SHAPES)] = "plane"
    vertices: Annotated[Floats, schema_constraints.points("n", 3)] = field(default_factory=lambda: np.zeros((0, 3)))
    triangles: Faces = field(default_factory=lambda: np.zeros((0, 3), np.int32))
    friction: Annotated[float, COLLIDER_FRICTION.limits] = COLLIDER_FRICTION.default
    thickness: Annotated[float, THICKNESS_LIMITS] = 0.0
    sides: Annotated[str, OneOf(COLLIDER_SIDES)] = SIDES_AUTO
    absorption: Annotated[float, FIELD_ABSORPTION.limits] = 0.0
    rest_vertices: Annotated[Floats, schema_constraints.shape_or_empty("n", 3)] = field(
        default_factory=lambda: np.zeros((0, 3))
    )
    keeps_overlap: bool = False
    attached_surface: AttachedSurface | None = None

    def __post_init__(self) -> None:
        """Takes lists for arrays."""
        convert_sequences(self)


def drop_unused_fields_of_colliders(
    colliders: Sequence[Collider], trees: Sequence[Any], arrays: dict[str, np.ndarray]
) -> None:
    """Takes out of the trees of colliders what bakes of before did not have, where it says nothing."""
    for collider, stored in zip(colliders, trees, strict=True):
        if not len(collider.rest_vertices):
            del arrays[stored.pop("rest_vertices")["array"]]
        if not collider.keeps_overlap:
            del stored["keeps_overlap"]
        if collider.attached_surface is None:
            del stored["attached_surface"]
        else:
            drop_unused_fields(collider.attached_surface.attachments, stored["attached_surface"]["attachments"], arrays)
