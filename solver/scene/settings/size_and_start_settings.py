# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of the size at which a body is simulated, and of how it starts."""

from __future__ import annotations

from ..serialisation.schema_constraints import closed_range, greater_than
from .setting import FIELD_DEFAULT, METRE_PER_SECOND, VECTOR, Setting, When, length, switch

FOLLOWS_NO_POSE = When("motion", ("ELASTIC", "JIGGLE", "BRITTLE"))

USE_SIMULATED_SIZE = switch(
    "use_simulated_size",
    "Simulated Size",
    "Simulate the body as if it had another size. A small body falls and wobbles faster and sags less",
)
SIMULATED_SIZE = length(
    "simulated_size",
    "Simulated Size",
    "Longest side of the object that the physics assumes",
    0.2,
    limits=greater_than(0.0, "Simulated Size", "m"),
    soft=(0.001, 100.0),
    when=(When("use_simulated_size", (True,)),),
)
GRAVITY_IN_SHAPE = switch(
    "gravity_in_shape",
    "Gravity Already in Shape",
    "The modeled shape already includes gravity, so the body does not sag at the start. On for new flesh "
    "(sag-free start)",
    field="Body.gravity_in_shape",
)
INITIAL_VELOCITY = Setting(
    "initial_velocity",
    "Initial Velocity",
    "Velocity at the first frame, in world space",
    VECTOR,
    (0.0, 0.0, 0.0),
    unit=METRE_PER_SECOND,
    limits=closed_range(-1.0e9, 1.0e9, "Initial Velocity"),
    when=(FOLLOWS_NO_POSE,),
    field="Body.initial_velocity",
)
INITIAL_SPIN = Setting(
    "initial_spin",
    "Initial Spin",
    "Angular velocity at the first frame about the body's centre, in world space. 6.28 is one turn per second",
    VECTOR,
    (0.0, 0.0, 0.0),
    term="Angular velocity ω",
    unit="rad/s",
    limits=closed_range(-1.0e6, 1.0e6, "Initial Spin"),
    when=(FOLLOWS_NO_POSE,),
    field="Body.initial_spin",
    since="0.3",
)
ANIMATED = switch(
    "animated",
    "Animated",
    "Follow the keys, rig and shape keys exactly. Keyed off, the body flies on with their velocity and spin, or with "
    "Initial Velocity and Initial Spin where these are set. Keyed on again, it is caught",
    when=(FOLLOWS_NO_POSE,),
    field="Body.animated",
    otherwise=FIELD_DEFAULT,
    is_animated=True,
    since="0.3",
)

START_SETTINGS = (USE_SIMULATED_SIZE, SIMULATED_SIZE, GRAVITY_IN_SHAPE, INITIAL_VELOCITY, INITIAL_SPIN, ANIMATED)
