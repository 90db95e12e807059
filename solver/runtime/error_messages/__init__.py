# SPDX-License-Identifier: GPL-3.0-or-later
"""The text of every error: kind → (one sentence, the next step), filled with `str.format`.

Sentences name the object in quotes. A file per subject, and in it a group per part that raises the errors.
"""

from . import (
    activation,
    attachments,
    bindings,
    blender,
    bodies,
    brittle,
    contact,
    convergence,
    diagnostics,
    flesh_and_bones,
    force_fields,
    formulations,
    fracture,
    joints,
    live,
    materials,
    meshes,
    muscles,
    processes_and_files,
    rigid_cores,
    sheets,
    surface_detail,
    wraps_and_passes,
)
from .minor_warnings import MINOR_WARNINGS
from .tooltip_measurements import MEASUREMENTS

__all__ = ["MEASUREMENTS", "MINOR_WARNINGS", "TEXTS"]

TEXTS: dict[str, tuple[str, str]] = {
    **meshes.TEXTS,
    **blender.TEXTS,
    **bodies.TEXTS,
    **brittle.TEXTS,
    **contact.TEXTS,
    **materials.TEXTS,
    **fracture.TEXTS,
    **flesh_and_bones.TEXTS,
    **muscles.TEXTS,
    **activation.TEXTS,
    **attachments.TEXTS,
    **bindings.TEXTS,
    **joints.TEXTS,
    **wraps_and_passes.TEXTS,
    **force_fields.TEXTS,
    **formulations.TEXTS,
    **convergence.TEXTS,
    **rigid_cores.TEXTS,
    **sheets.TEXTS,
    **surface_detail.TEXTS,
    **processes_and_files.TEXTS,
    **diagnostics.TEXTS,
    **live.TEXTS,
}
