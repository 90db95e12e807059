# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of a body's size at rest: what pulls tight, and what swells."""

from __future__ import annotations

from ..serialisation.schema_constraints import closed_range
from .setting import VECTOR_ATTRIBUTE, Setting, weight_group

REST_SCALE = Setting(
    "rest_scale",
    "Rest Scale",
    "Size at which the body is without stress, over the modeled one: 0.9 pulls tight, 1.05 swells. Its mass stays",
    default=1.0,
    term="Growth stretch s",
    limits=closed_range(0.1, 10.0, "Rest Scale"),
    soft=(0.5, 2.0),
    field="RestScale.scale",
    is_animated=True,
    since="0.3",
)
REST_SCALE_GROUP = weight_group(
    "rest_scale_group",
    "Rest Scale Group",
    "Vertex group or attribute: 1 has the Rest Scale, 0 keeps its size. "
    "Points inside take the weight of the nearest surface",
    field="RestScale.paint",
    since="0.3",
)
REST_SCALE_DIRECTION = Setting(
    "rest_scale_direction",
    "Direction",
    "Vector attribute: the Rest Scale counts along it alone, as in muscle, and not at all where it is zero. "
    "Empty: in all directions",
    VECTOR_ATTRIBUTE,
    "",
    field="RestScale.direction",
    since="0.3",
)
REST_SCALE_SETTINGS = (REST_SCALE, REST_SCALE_GROUP, REST_SCALE_DIRECTION)
