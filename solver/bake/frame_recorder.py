# SPDX-License-Identifier: GPL-3.0-or-later
"""What is written of one frame, collected sample by sample while the simulation moves through it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ..mechanics.topology import Topology
from ..mesh.geometry.coordinate_range import is_beyond_float32
from ..mesh.object_space import to_object_space
from ..runtime.arrays import Floats
from ..simulation.simulation import Simulation
from .attributes.attribute_fields import attribute_values, body_values
from .attributes.nodal_averaging import interpolate_at_vertices
from .attributes.point_ply import ply_bytes
from .cache import CacheMetadata, Frame
from .postprocess.breakable_frames import attribute_array_name, breakable_keys, frame_arrays

MAX_WRITTEN_CONTACTS = 50_000  # of a frame that are written: 2 MB


@dataclass
class FrameRecorder:
    """One frame on its way to the disk.

    Attributes:
        simulation: Moved on meanwhile.
        head: Of the cache.
        frame: The frame that it is moved to.
        number: The first sample that has the present topology; 0 while all bodies are whole.
        topology: The present topology; None while all bodies are whole.
        drawn: Object-space positions of every body, by sample.
        kept: What the finishing pass needs, by name (bake/postprocess/breakable_frames.py).
        topologies: Those that samples of this frame were the first to have, by number.
    """

    simulation: Simulation
    metadata: CacheMetadata
    frame: int
    first_sample: int
    topology: Topology | None
    render_positions: dict[str, list[npt.NDArray[np.float32]]] = field(default_factory=dict)
    fracture_data: dict[str, npt.NDArray] = field(default_factory=dict)
    topologies: dict[int, dict[str, npt.NDArray]] = field(default_factory=dict)
    samples: int = 0

    def record_sample(self, positions: Mapping[str, Floats]) -> None:
        """Takes the next sample, of which these are the render positions [m], world."""
        scene = self.simulation.scene
        count = 1 if self.frame == self.metadata.frame_start else self.metadata.samples_per_frame
        number = self.metadata.sample_count(self.frame) - count + self.samples
        time = scene.settings.time(self.metadata.frame_of_sample(number))
        for key, world in positions.items():
            self.render_positions.setdefault(key, []).append(to_object_space(self.simulation.tracks, key, world, time))
        self.fracture_data |= frame_arrays(self.simulation, breakable_keys(scene), self.samples)
        topology = Topology.from_state(self.simulation.state)
        if topology is not None and not _are_equal(topology, self.topology):
            self.first_sample, self.topology = number, topology
            self.topologies[number] = {"tets": topology.tets.copy(), "origin": topology.origin.copy()}
        self.samples += 1

    def frame_data(self) -> tuple[Frame, dict[str, npt.NDArray], dict[str, bytes]]:
        """Returns the frame, the samples of every body, and the attributes of those that cannot break."""
        files = self._record_attributes()
        frame = Frame(self.frame, self._node_positions(), self.first_sample, self.fracture_data)
        # one sample is not copied: it is as large as the render mesh
        samples = {
            key: drawn[0][None] if len(drawn) == 1 else np.stack(drawn) for key, drawn in self.render_positions.items()
        }
        return frame, samples, files

    def _node_positions(self) -> npt.NDArray:
        """Returns the positions of all nodes [m], (n, 3): float64 where a body is far from the origin, else float32."""
        x = self.simulation.state.x
        is_far = any(is_beyond_float32(x[body.nodes]) for body in self.simulation.built.model.bodies)
        return x.copy() if is_far else x.astype(np.float32)

    def contacts(self) -> dict[str, npt.NDArray]:
        """Returns where bodies touch at the end of the frame, as it is written; nothing where they do not.

        Positions [m], forces [N] and normals, (k, 3) each, and `other`, (k,): the number of the collider on the other
        side in the scene, or −1 − the number of the body. Of very many the strongest are kept.
        """
        pressed, scene = self.simulation.contact_loads(), self.simulation.scene
        if not len(pressed):
            return {}
        which = np.arange(len(pressed), dtype=np.int64)
        if len(which) > MAX_WRITTEN_CONTACTS:
            strength = -np.linalg.norm(pressed.forces, axis=1)
            which = np.sort(np.argsort(strength, kind="stable")[:MAX_WRITTEN_CONTACTS])
        numbers = {collider.key: number for number, collider in enumerate(scene.colliders)}
        numbers |= {body.key: -1 - number for number, body in enumerate(scene.bodies)}
        other = np.array([numbers[name] for name in pressed.names], np.int32)[pressed.other[which]]
        rows = {"positions": pressed.positions, "forces": pressed.forces, "normals": pressed.normals}
        return {name: values[which].astype(np.float32) for name, values in rows.items()} | {"other": other}

    def _record_attributes(self) -> dict[str, bytes]:
        bodies, files = self.simulation.scene.bodies, {}
        wanted = {name for body in bodies for name in body.attributes}
        values = attribute_values(self.simulation, wanted)
        for number, (asked, body) in enumerate(zip(bodies, self.simulation.built.bodies, strict=True)):
            if not asked.attributes:
                continue
            own = body_values(self.simulation, number, values)
            if asked.fracture is not None:
                self.fracture_data |= {
                    attribute_array_name(body.key, name): part.astype(np.float32) for name, part in own.items()
                }
                continue
            volume = self.simulation.built.model.volume[body.range.tets]
            columns = interpolate_at_vertices(own, body.mesh.tets, volume, body.binding, len(body.mesh.nodes))
            files[body.key] = ply_bytes(self.render_positions[body.key][-1], columns)
        return files


def _are_equal(one: Topology, other: Topology | None) -> bool:
    return other is not None and np.array_equal(one.origin, other.origin) and np.array_equal(one.tets, other.tets)
