# SPDX-License-Identifier: GPL-3.0-or-later
"""Records the data of one frame, sample by sample, while the simulation advances."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ..mechanics.state_fields import BROKEN_PREFIX, DETAIL_PREFIX
from ..mesh.geometry.coordinate_range import is_beyond_float32
from ..runtime.arrays import Floats
from ..simulation.simulation import Simulation
from .attributes.attribute_fields import attribute_values, body_values
from .attributes.nodal_recovery import interpolate_at_vertices
from .attributes.point_ply import ply_bytes
from .cache import CacheMetadata, Frame
from .played_vertices import played_binding, played_positions
from .postprocess.breakable_frame_fields import attribute_array_name, breakable_keys, frame_arrays

MAX_WRITTEN_CONTACTS = 50_000  # per frame, 2 MB


@dataclass
class FrameRecorder:
    """The data of one frame before it is written.

    Attributes:
        simulation: Advances meanwhile.
        metadata: Of the cache.
        frame: The frame to which it advances.
        first_sample: First sample with the present topology, 0 while all bodies are intact.
        topology: The arrays of the present topology, none while all bodies are intact.
        render_positions: Object-space positions of every body, by sample.
        fracture_data: Fields for the finishing pass, by name (bake/postprocess/breakable_frame_fields.py).
        topologies: New topologies in this frame, by number of their first sample.
        samples: Number of samples recorded so far.
        skipped: Frames of the simulation before the first one of the cache.
    """

    simulation: Simulation
    metadata: CacheMetadata
    frame: int
    first_sample: int
    topology: dict[str, npt.NDArray]
    render_positions: dict[str, list[npt.NDArray[np.float32]]] = field(default_factory=dict)
    fracture_data: dict[str, npt.NDArray] = field(default_factory=dict)
    topologies: dict[int, dict[str, npt.NDArray]] = field(default_factory=dict)
    samples: int = 0
    skipped: int = 0

    def record_sample(self, positions: Mapping[str, Floats]) -> None:
        """Records the next sample, with its render positions in world space [m]."""
        scene = self.simulation.scene
        count = 1 if self.frame == self.metadata.frame_start else self.metadata.samples_per_frame
        number = self.metadata.sample_count(self.frame) - count + self.samples
        time = scene.settings.time(self.metadata.frame_of_sample(number) + self.skipped)
        for key, world in positions.items():
            self.render_positions.setdefault(key, []).append(played_positions(self.simulation, key, world, time))
        self.fracture_data |= frame_arrays(self.simulation, breakable_keys(scene), self.samples)
        topology = self.simulation.built.stored_tets(self.simulation.state)
        if topology and not _are_equal(topology, self.topology):
            self.first_sample, self.topology = number, topology
            self.topologies[number] = {name: values.copy() for name, values in topology.items()}
        self.samples += 1

    def frame_data(self) -> tuple[Frame, dict[str, npt.NDArray], dict[str, bytes]]:
        """Returns the frame, the samples of every body, and the attributes of unbreakable ones."""
        files = self._record_attributes()
        fields = self.simulation.state.fields
        drawn_by = {name: a for name, a in fields.items() if name.startswith((BROKEN_PREFIX, DETAIL_PREFIX))}
        frame = Frame(self.frame, self._node_positions(), self.first_sample, self.fracture_data | drawn_by)
        # do not copy a single sample, which is as large as the render mesh
        samples = {
            key: drawn[0][None] if len(drawn) == 1 else np.stack(drawn) for key, drawn in self.render_positions.items()
        }
        return frame, samples, files

    def _node_positions(self) -> npt.NDArray:
        """Returns the stored positions of all nodes [m], (n, 3): float64 where a body is far from the origin."""
        built = self.simulation.built
        x = built.stored_positions(self.simulation.state.x)
        is_far = any(is_beyond_float32(x[body.nodes]) for body in built.stored_now.model.bodies)
        return x.copy() if is_far else x.astype(np.float32)

    def contacts(self) -> dict[str, npt.NDArray]:
        """Returns the contacts at the end of the frame as arrays, or none without contacts.

        Positions [m], forces [N] and normals, (k, 3) each, and `other`, (k,): the number of the collider in the scene,
        or −1 − the number of the other body. Above a limit, only the strongest ones. `let_in`: where colliders were let
        into bodies [m], (m, 3).
        """
        pressed, scene = self.simulation.contact_loads(), self.simulation.scene
        exact = self.simulation.exact_contact
        let_in = {"let_in": exact.let_in.astype(np.float32)} if exact is not None and len(exact.let_in) else {}
        if not len(pressed) and not let_in:
            return {}
        which = np.arange(len(pressed), dtype=np.int64)
        if len(which) > MAX_WRITTEN_CONTACTS:
            strength = -np.linalg.norm(pressed.forces, axis=1)
            which = np.sort(np.argsort(strength, kind="stable")[:MAX_WRITTEN_CONTACTS])
        numbers = {collider.key: number for number, collider in enumerate(scene.colliders)}
        numbers |= {body.key: -1 - number for number, body in enumerate(scene.bodies)}
        other = np.array([numbers[name] for name in pressed.names], np.int32)[pressed.other[which]]
        rows = {"positions": pressed.positions, "forces": pressed.forces, "normals": pressed.normals}
        return {name: values[which].astype(np.float32) for name, values in rows.items()} | {"other": other} | let_in

    def _record_attributes(self) -> dict[str, bytes]:
        bodies, files = self.simulation.scene.bodies, {}
        names = {name for body in bodies for name in body.attributes}
        values = attribute_values(self.simulation, names)
        for number, (with_attributes, body) in enumerate(zip(bodies, self.simulation.built.bodies, strict=True)):
            if not with_attributes.attributes:
                continue
            own = body_values(self.simulation, number, values)
            if with_attributes.fracture is not None:
                self.fracture_data |= {
                    attribute_array_name(body.key, name): part.astype(np.float32) for name, part in own.items()
                }
                continue
            volume = self.simulation.built.model.volume[body.range.tets]
            binding = played_binding(with_attributes, body.binding)
            columns = interpolate_at_vertices(own, body.mesh.tets, volume, binding, len(body.mesh.nodes))
            files[body.key] = ply_bytes(self.render_positions[body.key][-1], columns)
        return files


def _are_equal(one: Mapping[str, npt.NDArray], other: Mapping[str, npt.NDArray]) -> bool:
    return one.keys() == other.keys() and all(np.array_equal(values, other[name]) for name, values in one.items())
