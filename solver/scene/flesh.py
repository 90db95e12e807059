# SPDX-License-Identifier: GPL-3.0-or-later
"""Flesh and the bones that hold it, as part of a scene. Units are metres, seconds and pascals."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

import numpy as np

from ..runtime.arrays import Floats, Indices
from .serialisation.schema_constraints import OneOf, RowsOf, points, shape, shape_or_empty
from .settings.flesh_settings import BONE_DISTANCE, BONE_STIFFNESS, FLESH_LAW, JIGGLE_SCHEME

# how flesh moves (`Flesh.motion`), its laws (`Flesh.law`), and how it steps where it is dynamic (`Flesh.scheme`)
QUASISTATIC, DYNAMIC = "quasistatic", "dynamic"
FLESH_MOTIONS = (QUASISTATIC, DYNAMIC)
FLESH_LAWS = FLESH_LAW.words
FLESH_TIME_SCHEMES = JIGGLE_SCHEME.words


@dataclass(frozen=True)
class Flesh:
    """Flesh: a hyperelastic solid.

    Attributes:
        motion: "quasistatic" (at rest in every sample, as its bones and loads want it: it follows the pose) or
            "dynamic" (it has inertia, and jiggles).
        law: Of `FLESH_LAWS`; the body's `Material` has its moduli.
        scheme: "euler" (implicit) or "newmark" (modified, S07 6.3.3); dynamic flesh only.
        self_contact: Whether it does not go through itself; quasistatic flesh only.
        keeps_volume: Whether dynamic flesh that nothing holds keeps its volume where it is too soft to stand
            (`solver/mechanics/self_weight_volume_penalty.py`); without, its law is that of S07 alone, and its weight
            presses it flat.
        attachment_paint: At the render vertices: only where it is above ½, bones hold the flesh below, (n,) or (0,).
    """

    motion: Annotated[str, OneOf(FLESH_MOTIONS)] = QUASISTATIC
    law: Annotated[str, OneOf(FLESH_LAWS)] = "stable-neo-hookean"
    scheme: Annotated[str, OneOf(FLESH_TIME_SCHEMES)] = "euler"
    self_contact: bool = True
    keeps_volume: bool = False
    attachment_paint: Annotated[Floats, shape_or_empty("n")] = field(default_factory=lambda: np.zeros(0))


@dataclass(frozen=True)
class Bone:
    """A bone that holds flesh: a mesh, or the line of an armature's bone.

    What it holds is found in the rest pose (`constraints/bones/bone_attachment.py`): a node follows the bone that it
    lies deepest in or nearest to, and in joints of bones that hold exactly it is left free. Parts of a mesh that
    deforms and do not hang together count as bones of their own.

    Tracks, one of them, sampled from the rest pose on:
        "bone.KEY.matrix" (4, 4): world now ← world in the rest pose, for what moves rigidly.
        "bone.KEY.vertices" (n, 3): `vertices` now [m], world, for what deforms.

    Attributes:
        vertices, triangles: In the rest pose [m], world, (n, 3) and (t, 3). Without triangles there are two
            vertices, the ends of a line.
        distance: Material as near to the surface or the line as this follows [m]; in a closed mesh it always does.
        stiffness: Of the springs that hold it, per mass [1/s²]; None: held exactly.
        bodies: Keys of the bodies that it holds; none: all flesh; `NOTHING` alone: it holds nobody.
        mask: At its own vertices: what is nearest to where this is at most ½ is not held, (n,), or (0,).
        weights: At the render vertices of the one body in `bodies`, (v,), or (0,): of several bones with weights, a
            node follows the one that has the largest at the nearest point of the body's surface.
    """

    key: str
    name: str
    vertices: Annotated[Floats, points("n", 3)]
    triangles: Annotated[Indices, shape("t", 3), RowsOf("vertices")]
    distance: Annotated[float, BONE_DISTANCE.limits] = 0.0
    stiffness: Annotated[float, BONE_STIFFNESS.limits] | None = None
    bodies: tuple[str, ...] = ()
    mask: Annotated[Floats, shape_or_empty("n")] = field(default_factory=lambda: np.zeros(0))
    weights: Annotated[Floats, shape("v")] = field(default_factory=lambda: np.zeros(0))
