# SPDX-License-Identifier: GPL-3.0-or-later
"""What is written of one frame, collected sample by sample while the simulation moves through it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

import numpy as np
import numpy.typing as npt

from .arrays import Floats
from .attributes.fields import fields, of_body
from .attributes.ply import ply_bytes
from .attributes.spread import at_vertices
from .cache import CacheHead, Frame
from .finish.kept import attribute_name, breakable, sample_arrays
from .late_dataclass import dataclass
from .object_space import in_object_space
from .simulation import Simulation
from .topology import Topology

MOST_CONTACTS = 50_000  # of a frame that are written: 2 MB


@dataclass
class Taken:
    """One frame on its way to the disk.

    Attributes:
        simulation: Moved on meanwhile.
        head: Of the cache.
        frame: The frame that it is moved to.
        number: The first sample that has the present topology; 0 while all bodies are whole.
        topology: The present topology; None while all bodies are whole.
        drawn: Object-space positions of every body, by sample.
        kept: What the finishing pass needs, by name (finish/kept.py).
        topologies: Those that samples of this frame were the first to have, by number.
    """

    simulation: Simulation
    head: CacheHead
    frame: int
    number: int
    topology: Topology | None
    drawn: dict[str, list[npt.NDArray[np.float32]]] = field(default_factory=dict)
    kept: dict[str, npt.NDArray] = field(default_factory=dict)
    topologies: dict[int, dict[str, npt.NDArray]] = field(default_factory=dict)
    samples: int = 0

    def take(self, positions: Mapping[str, Floats]) -> None:
        """Takes the next sample, of which these are the render positions [m], world."""
        scene = self.simulation.scene
        count = 1 if self.frame == self.head.frame_start else self.head.samples_per_frame
        number = self.head.sample_count(self.frame) - count + self.samples
        time = scene.settings.time(self.head.frame_of_sample(number))
        for key, world in positions.items():
            self.drawn.setdefault(key, []).append(in_object_space(self.simulation.tracks, key, world, time))
        self.kept |= sample_arrays(self.simulation, breakable(scene), self.samples)
        topology = Topology.of(self.simulation.state)
        if topology is not None and not _are_same(topology, self.topology):
            self.number, self.topology = number, topology
            self.topologies[number] = {"tets": topology.tets.copy(), "origin": topology.origin.copy()}
        self.samples += 1

    def complete(self) -> tuple[Frame, dict[str, npt.NDArray], dict[str, bytes]]:
        """Returns the frame, the samples of every body, and the attributes of those that cannot break."""
        files = self._take_attributes()
        frame = Frame(self.frame, self.simulation.state.x.astype(np.float32), self.number, self.kept)
        # one sample is not copied: it is as large as the render mesh
        samples = {key: drawn[0][None] if len(drawn) == 1 else np.stack(drawn) for key, drawn in self.drawn.items()}
        return frame, samples, files

    def contacts(self) -> dict[str, npt.NDArray]:
        """Returns where bodies touch at the end of the frame, as it is written; nothing where they do not.

        Positions [m], forces [N] and normals, (k, 3) each, and `other`, (k,): the number of the collider on the other
        side in the scene, or −1 − the number of the body. Of very many the strongest are kept.
        """
        pressed, scene = self.simulation.pressed(), self.simulation.scene
        if not len(pressed):
            return {}
        which = np.arange(len(pressed), dtype=np.int64)
        if len(which) > MOST_CONTACTS:
            strength = -np.linalg.norm(pressed.forces, axis=1)
            which = np.sort(np.argsort(strength, kind="stable")[:MOST_CONTACTS])
        numbers = {collider.key: number for number, collider in enumerate(scene.colliders)}
        numbers |= {body.key: -1 - number for number, body in enumerate(scene.bodies)}
        other = np.array([numbers[name] for name in pressed.names], np.int32)[pressed.other[which]]
        rows = {"positions": pressed.positions, "forces": pressed.forces, "normals": pressed.normals}
        return {name: values[which].astype(np.float32) for name, values in rows.items()} | {"other": other}

    def _take_attributes(self) -> dict[str, bytes]:
        bodies, files = self.simulation.scene.bodies, {}
        wanted = {name for body in bodies for name in body.attributes}
        values = fields(self.simulation, wanted)
        for number, (asked, body) in enumerate(zip(bodies, self.simulation.built.bodies, strict=True)):
            if not asked.attributes:
                continue
            own = of_body(self.simulation, number, values)
            if asked.fracture is not None:
                self.kept |= {attribute_name(body.key, name): part.astype(np.float32) for name, part in own.items()}
                continue
            volume = self.simulation.built.model.volume[body.range.tets]
            columns = at_vertices(own, body.mesh.tets, volume, body.binding, len(body.mesh.nodes))
            files[body.key] = ply_bytes(self.drawn[body.key][-1], columns)
        return files


def _are_same(one: Topology, other: Topology | None) -> bool:
    return other is not None and np.array_equal(one.origin, other.origin) and np.array_equal(one.tets, other.tets)
