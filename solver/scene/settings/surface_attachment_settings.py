# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of the attachments of a body: along what its surface slides, and to what it is tied by springs."""

from __future__ import annotations

from ..serialisation.schema_constraints import at_least, left_open_range
from .setting import OBJECT, TABLE, Choice, Setting, length, menu, paint, switch

MAX_REACH = 1.0e6  # [m]

ATTACHMENTS = Setting(
    "attachments",
    "Attachments",
    "Other surfaces along which this one slides, or to which springs tie it. What is attached does not also collide",
    TABLE,
    since="0.3",
)
ATTACHMENT_TARGET = Setting(
    "target",
    "Target",
    "The other surface: a body, a collider or a bone mesh. Bodies feel the attachment, too",
    OBJECT,
    None,
)
ATTACHMENT_KIND = menu(
    "kind",
    "Kind",
    "How the two surfaces hold together",
    (
        Choice("SLIDING", "Sliding", "They stay as near as they are at rest, and slide freely, as muscles do", 1),
        Choice("SPRING", "Spring", "Every point is pulled back to the place where it is at rest", 2),
    ),
    "SLIDING",
    field="Attachment.kind",
)
ATTACHMENT_IS_ON = switch("is_on", "On", "Whether the attachment holds", True, is_animated=True)
ATTACHMENT_REACH = length(
    "reach",
    "Reach",
    "Points of the surface are attached that are less than this from the target at rest. One that is pulled off by "
    "more is let go",
    0.02,
    limits=left_open_range(0.0, MAX_REACH, "Reach"),
    minimum=1.0e-6,
    soft=(0.001, 1.0),
    precision=4,
    field="Attachment.reach",
)
ATTACHMENT_STRENGTH = Setting(
    "strength",
    "Strength",
    "How strongly the surfaces hold together. 1 suits most; 10 keeps them ten times as close",
    default=1.0,
    limits=at_least(0.0, "Strength"),
    soft=(None, 10.0),
    field="Attachment.strength",
    is_animated=True,
)
ATTACHMENT_GROUP = paint("group", "Group", "the Strength of this attachment", field="Attachment.paint")
# of one row of the list
ATTACHMENT_ROW_SETTINGS = (
    ATTACHMENT_TARGET,
    ATTACHMENT_KIND,
    ATTACHMENT_IS_ON,
    ATTACHMENT_REACH,
    ATTACHMENT_STRENGTH,
    ATTACHMENT_GROUP,
)
