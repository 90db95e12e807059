# SPDX-License-Identifier: GPL-3.0-or-later
"""A binding of a body: its nodes that are in or near another body follow the tets of that one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from .serialisation.schema_constraints import at_least


@dataclass(frozen=True)
class BodyBinding:
    """A hard binding (`constraints/bindings/`): bound nodes do not move against the target, and both sides feel it.

    It differs from an attachment that is fixed, whose springs give way a little, and which a key lets go.

    Attributes:
        target: Key of another body.
        reach: Nodes are bound that are in tets of the target, or not farther than this from them at rest [m]. Of
            several bindings of a body, the first one in whose reach a node is has it.
    """

    target: str
    reach: Annotated[float, at_least(0.0, "Reach", "m")] = 0.0
