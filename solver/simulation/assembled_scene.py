# SPDX-License-Identifier: GPL-3.0-or-later
"""A simulation, ready to run: what `build.py` makes of a scene."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, cast

import numpy as np
import numpy.typing as npt

from ..constraints.force import Force
from ..constraints.pins import BodyPins
from ..constraints.rest_shape_animation import ReshapedBody
from ..contact.colliders.deforming_collider import DeformingCollider
from ..contact.colliders.rigid_colliders import BuiltCollider
from ..contact.detection.contact_sample_points import ContactPoints
from ..contact.detection.surface_materials import ContactMaterials
from ..mechanics.heat import HeatBodies
from ..mechanics.model import BodyRange, Model
from ..mechanics.plasticity import PlasticBody
from ..mechanics.state import State
from ..mechanics.state_fields import CUT_PREFIX
from ..mechanics.topology_state import Topology
from ..mesh.embedding import Binding
from ..mesh.tet_mesh import TetMesh
from ..runtime.arrays import Floats, Indices, indices
from ..runtime.errors import SinewError
from .dynamic_refinement.body_levels import BodyLevels
from .features.feature import AnyFeature, BuildInputs, Feature, find_feature
from .features.flesh import FleshFeature
from .features.fracture import Fracture
from .features.heat import Heat
from .features.plasticity import PlasticFlow
from .features.rest_shapes import RestShapes
from .fracture.breakable_bodies import FractureBodies

if TYPE_CHECKING:  # these take long to load, and few scenes have them
    from ..constraints.bones import BoneConstraints
    from .brittle.scene_in_pieces import PiecesOfScene
    from .cutting.body_cut import BodyCut
    from .exact_contact.exact_surfaces import ExactSurfaces
    from .flesh import FleshBodies


NO_TETS, NO_WEIGHTS = np.zeros(0, np.int32), np.zeros((0, 4))


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
        initial: The first frame.
        features: What bodies do besides deforming, in the order of `features/registry.py`.
        forces: What acts on them from outside, in the order of `forces.py`.
        contact_points: Of all bodies.
        colliders: What they may touch, but for what deforms.
        deforming: Colliders that change their shape.
        contact_materials: Surfaces at which bodies touch each other, themselves and colliders that deform, and their
            friction; None where nothing can meet.
        crack_point_rows: Which of `contact_points`, the last ones, lie on broken faces
            (`simulation/fracture/crack_contact_points.py`) or on cut ones (`cutting/cut_contacts.py`), (k,).
        unbroken: What was built before anything broke; None: this.
        levels: The bodies whose tets change their sizes, with those that they have now.
        finest: The scene with the smallest tets of these bodies; None: there are none.
        build_inputs: What it was built from by `build.py`; None for what is made of such a scene: with other tets of
            adaptive bodies, pieces of brittle ones, or copies of tets after cuts.
        pieces: The pieces of its brittle bodies; None: it has no such bodies.
        exact_contact: What Exact contact keeps apart; None: the scene has Fast contact.
        bound_attachment: Number in `Body.attachments` of what binds each node, −1 for none, (n,) or (0,).
        cuts: All cuts of bodies so far, one for each body that was cut.
        uncut: What was built before anything was cut; None: this.
    """

    model: Model
    bodies: tuple[AssembledBody, ...]
    initial: State
    features: tuple[Feature, ...]
    forces: tuple[Force, ...]
    contact_points: ContactPoints
    colliders: tuple[BuiltCollider, ...]
    deforming: tuple[DeformingCollider, ...] = ()
    contact_materials: ContactMaterials | None = None
    crack_point_rows: npt.NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    unbroken: AssembledScene | None = None
    levels: tuple[BodyLevels, ...] = ()
    finest: AssembledScene | None = None
    build_inputs: BuildInputs | None = None
    pieces: PiecesOfScene | None = None
    exact_contact: ExactSurfaces | None = None
    bound_attachment: Indices = field(default_factory=lambda: np.zeros(0, np.int32))
    cuts: tuple[BodyCut, ...] = ()
    uncut: AssembledScene | None = None

    def bound_nodes_to_arrays(self, nodes: slice) -> dict[str, np.ndarray]:
        """Returns for `model/KEY.npz` the attachment that binds each node of the body with these nodes, −1 for none."""
        own = self.bound_attachment[nodes]
        return {"bound_attachment": own} if (own >= 0).any() else {}

    def with_tets(
        self,
        now: BuildInputs,
        colliders: tuple[BuiltCollider, ...],
        materials: ContactMaterials | None,
        forces: tuple[Force, ...],
    ) -> AssembledScene:
        """Returns the scene with other tets, features and forces, built from `now`, from which it is not built again.

        Args:
            now: Its meshes, bindings, model, contact points and state, with its features.
            colliders: Those that keep their shape.
            materials: Surfaces at which bodies touch each other; None where nothing can meet.
            forces: As in the class.
        """
        parts = zip(self.bodies, now.meshes, now.bindings, now.model.bodies, strict=True)
        return replace(
            self,
            model=now.model,
            bodies=tuple(replace(body, mesh=m, binding=b, range=part) for body, m, b, part in parts),
            initial=now.state,
            features=tuple(each.with_contact_surfaces(materials, now.model, now.gravity) for each in now.features),
            forces=forces,
            contact_points=now.contact_points,
            colliders=colliders,
            contact_materials=materials,
            build_inputs=None,
        )

    @functools.cached_property
    def _cut_tets(self) -> dict[str, npt.NDArray]:
        """The copies of tets of all bodies after cuts, as `stored_tets` has them."""
        from .cutting.cut_model import copied_rows

        assert self.uncut is not None
        rows = copied_rows(self.uncut.model, {cut.number: cut.tets for cut in self.cuts})
        return {"tets": self.model.tets, "origin": rows.node, "parent": rows.tet}

    @functools.cached_property
    def joint_binding(self) -> Binding:
        """The render vertices of all bodies, one after the other, in the tets of the model."""
        tets = [body.binding.tet + body.range.tets.start for body in self.bodies]
        weights = [body.binding.weights for body in self.bodies]
        if len(weights) == 1:
            return Binding(indices(tets[0]), weights[0])
        return Binding(indices(np.concatenate([NO_TETS, *tets])), np.concatenate([NO_WEIGHTS, *weights]))

    @property
    def stored(self) -> AssembledScene:
        """The scene with the tets that a cache has, whose nodes its frames have: where they change, the smallest."""
        return self.pieces.fine if self.pieces else self.finest or self

    @property
    def stored_now(self) -> AssembledScene:
        """The same with the nodes that have split by now."""
        return self.pieces.present_fine if self.pieces else self.finest or self

    def stored_topology(self, state: State) -> Topology | None:
        """Returns the nodes of the tets of `stored` after some have split; None: none have."""
        return self.pieces.topology if self.pieces else Topology.from_state(state)

    def stored_tets(self, state: State) -> dict[str, npt.NDArray]:
        """Returns what a cache has of the tets of `stored` after some nodes have split or bodies were cut, by name.

        That is `tets` and `origin`, as in `Topology`; after cuts also the tet of the whole bodies that each is a copy
        of, `parent`, and what the state has of cuts.
        """
        if self.cuts:
            return self._cut_tets | {n: values for n, values in state.fields.items() if n.startswith(CUT_PREFIX)}
        topology = self.stored_topology(state)
        return {} if topology is None else {"tets": topology.tets, "origin": topology.origin}

    def stored_positions(self, x: Floats) -> Floats:
        """Returns the positions of the nodes of `stored_now` [m], (k, 3), for those of this one [m], (n, 3)."""
        if self.pieces is not None:
            return self.pieces.node_positions(self.model, x)
        if self.finest is None:
            return x
        out = np.empty_like(self.finest.model.X)
        switched = {body.number: body for body in self.levels}
        for number, (part, own) in enumerate(zip(self.finest.model.bodies, self.model.bodies, strict=True)):
            body, here = switched.get(number), x[own.nodes]
            out[part.nodes] = here if body is None else body.finest_positions(here)
        return out

    def feature(self, kind: type[AnyFeature]) -> AnyFeature | None:
        """Returns the feature of a kind; None where no body has it."""
        return find_feature(self.features, kind)

    @property
    def resting_bodies(self) -> tuple[int, ...]:
        """Numbers of the bodies that are brought to rest in poses and take no steps."""
        return tuple(number for feature in self.features for number in feature.resting_bodies)

    @property
    def posed_bodies(self) -> tuple[int, ...]:
        """Numbers of the bodies that follow a pose and take steps without inertia, as Exact contact has them."""
        return self.flesh.dynamic.posed_bodies if self.flesh is not None and self.flesh.dynamic is not None else ()

    @property
    def pins(self) -> tuple[BodyPins, ...]:
        """The pins of all bodies."""
        return tuple(force for force in self.forces if isinstance(force, BodyPins))

    @property
    def bones(self) -> BoneConstraints | None:
        """What bones hold; None where they hold nothing."""
        # by its kind, not its class, which takes long to load
        return cast("BoneConstraints | None", next((force for force in self.forces if force.kind == "bones"), None))

    @property
    def heat(self) -> HeatBodies | None:
        """The bodies that have a temperature; None where none has."""
        heat = self.feature(Heat)
        return heat.bodies if heat else None

    @property
    def plastic(self) -> tuple[PlasticBody, ...]:
        """The bodies that take a new shape for good."""
        flow = self.feature(PlasticFlow)
        return flow.bodies if flow else ()

    @property
    def fracture(self) -> FractureBodies | None:
        """The bodies that may break; None where none may."""
        fracture = self.feature(Fracture)
        return fracture.bodies if fracture else None

    @property
    def flesh(self) -> FleshBodies | None:
        """The bodies that are flesh; None where none is."""
        flesh = self.feature(FleshFeature)
        return flesh.bodies if flesh else None

    @property
    def animated_rest_shapes(self) -> tuple[ReshapedBody, ...]:
        """The bodies whose rest shape changes."""
        shapes = self.feature(RestShapes)
        return shapes.bodies if shapes else ()
