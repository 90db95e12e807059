# SPDX-License-Identifier: GPL-3.0-or-later
"""A simulation, ready to run: what `build.py` makes of a scene."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..constraints.pins import BodyPins
from ..constraints.rest_shape_animation import ReshapedBody
from ..constraints.rigid_core.core_drivers import CoreSpring
from ..contact.colliders.build_colliders import BuiltCollider
from ..contact.colliders.deforming_collider import DeformingCollider
from ..contact.detection.contact_points import ContactMaterials, ContactPoints
from ..mechanics.heat import HeatBodies
from ..mechanics.model import BodyRange, Model
from ..mechanics.plasticity import PlasticBody
from ..mechanics.state import State
from ..mesh.embedding import Binding
from ..mesh.tet_mesh import TetMesh
from ..runtime.errors import SinewError
from .fracture.breakable_bodies import FractureBodies
from .fracture.fragment_surfaces import FragmentSurfaces

if TYPE_CHECKING:  # these take long to load, and few scenes have them
    from ..constraints.bones import BoneConstraints
    from .flesh import FleshBodies


@dataclass(frozen=True)
class AssembledBody:
    """One body, ready.

    Attributes:
        key, name: As in the scene.
        mesh: Its tets; node and tet numbers are its own.
        binding: Its render vertices in these tets.
        range: Where it is in the model.
        warnings: What the artist should know, not raised.
    """

    key: str
    name: str
    mesh: TetMesh
    binding: Binding
    range: BodyRange
    warnings: tuple[SinewError, ...]


@dataclass(frozen=True)
class AssembledScene:
    """A simulation, ready to run.

    Attributes:
        model: All bodies in one.
        bodies: One by one.
        pins: Of the bodies that have any.
        contact_points: Of all bodies.
        colliders: What they may touch, but for what deforms.
        initial: The first frame.
        heat: Of the bodies that have a temperature; None where none has.
        plastic: The bodies that take a new shape for good.
        fracture: Of the bodies that may break; None where none may.
        broken_keys: Which of `contact_points`, the last ones, lie on broken faces
            (`simulation/fracture/fracture_points.py`), (k,).
        whole: What was built before anything broke; None: this.
        flesh: Of the bodies that are flesh; None where none is.
        bones: What holds bodies; None where no bone may.
        reshaped: The bodies whose rest shape changes.
        deforming: Colliders that change their shape.
        skins: With which bodies touch each other, themselves and what deforms; None where nothing can meet.
        breaking: What skins become when bodies break; None where none may.
        pulls: Springs that pull rigid cores.
    """

    model: Model
    bodies: tuple[AssembledBody, ...]
    pins: tuple[BodyPins, ...]
    contact_points: ContactPoints
    colliders: tuple[BuiltCollider, ...]
    initial: State
    heat: HeatBodies | None = None
    plastic: tuple[PlasticBody, ...] = ()
    fracture: FractureBodies | None = None
    crack_point_rows: npt.NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    unbroken: AssembledScene | None = None
    flesh: FleshBodies | None = None
    bones: BoneConstraints | None = None
    animated_rest_shapes: tuple[ReshapedBody, ...] = ()
    deforming: tuple[DeformingCollider, ...] = ()
    skins: ContactMaterials | None = None
    fracture_surfaces: FragmentSurfaces | None = None
    core_drivers: tuple[CoreSpring, ...] = ()
