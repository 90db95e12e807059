# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of a body's rigid core, its hinge, and the spring that pulls it."""

from __future__ import annotations

from ..serialisation.schema_constraints import at_least
from .setting import OBJECT, Setting, When, length, switch, weight_group

HAS_CORE = When("use_core", (True,))
HAS_TARGET = When("core_pull")

USE_CORE = switch(
    "use_core",
    "Rigid Core",
    "The inside moves as one rigid piece, like a skull. The rest follows as soft skin",
    since="0.2",  # the digests of bakes without a core are those of before there were any
)
SKIN_THICKNESS = length(
    "core_skin_thickness",
    "Skin Thickness",
    "Depth below the surface at which the core begins",
    0.1,
    soft=(None, 1.0),
    when=(HAS_CORE,),
    field="Core.skin_thickness",
)
CORE_GROUP = weight_group(
    "core_group",
    "Core Mask",
    "Limit the core to what lies under the skin where this vertex group or attribute is above 0.5. "
    "Empty: everything below the Skin Thickness",
    when=(HAS_CORE,),
    field="Core.paint",
)
CORE_HINGE = Setting(
    "core_hinge",
    "Hinge",
    "The core moves with this object and turns about its local Z axis only. Empty: the core is free",
    OBJECT,
    None,
    when=(HAS_CORE,),
)
CORE_PULL = Setting(
    "core_pull",
    "Spring Target",
    "A spring pulls the core to this object, at the point of the core where the object is at the Rest Frame. "
    "Empty: no spring",
    OBJECT,
    None,
    when=(HAS_CORE,),
)
PULL_STIFFNESS = Setting(
    "core_pull_stiffness",
    "Target Stiffness",
    "Higher pulls harder: 1000 gives 1 cm of sag under the body's weight, and 5 swings per second",
    default=1000.0,
    term="Spring stiffness per mass",
    unit="1/s²",
    limits=at_least(0.0, "Target Stiffness", "1/s²"),
    soft=(10.0, 1.0e5),
    precision=0,
    step=10000,
    when=(HAS_CORE, HAS_TARGET),
    field="Pull.stiffness",
)
PULL_DAMPING = Setting(
    "core_pull_damping",
    "Target Damping",
    "Higher stops the swinging sooner. From 2 √Target Stiffness on, the core does not swing at all",
    default=20.0,
    term="Damping per mass",
    unit="1/s",
    limits=at_least(0.0, "Target Damping", "1/s"),
    soft=(None, 1000.0),
    precision=1,
    step=100,
    when=(HAS_CORE, HAS_TARGET),
    field="Pull.damping",
)

CORE_SETTINGS = (USE_CORE, SKIN_THICKNESS, CORE_GROUP, CORE_HINGE, CORE_PULL, PULL_STIFFNESS, PULL_DAMPING)
