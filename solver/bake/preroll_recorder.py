# SPDX-License-Identifier: GPL-3.0-or-later
"""Records the render positions of the pre-roll, which a later pass follows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ..runtime.arrays import Floats
from ..simulation.simulation import Simulation
from .played_vertices import played_positions


@dataclass
class PrerollRecorder:
    """The samples of a pre-roll, from the rest pose to the first frame.

    Attributes:
        simulation: Moves on meanwhile.
        samples: Of each body in object space, by key.
    """

    simulation: Simulation
    samples: dict[str, list[npt.NDArray[np.float32]]] = field(default_factory=dict)

    def record_sample(self, positions: Mapping[str, Floats]) -> None:
        """Records the next sample, with its render positions in world space [m]."""
        settings = self.simulation.scene.settings
        for key, world in positions.items():
            own = self.samples.setdefault(key, [])
            time = settings.start_time + len(own) / (settings.fps * settings.samples_per_frame)
            own.append(played_positions(self.simulation, key, world, time))

    def arrays(self) -> dict[str, npt.NDArray[np.float32]]:
        """Returns the positions of every body, (samples, n, 3), by key; none without samples."""
        return {key: np.stack(own) for key, own in self.samples.items()}
