# SPDX-License-Identifier: GPL-3.0-or-later
"""The words of every failure: kind → (one sentence, the next step), filled with `str.format`.

Sentences name the object in quotes. A file per subject, in it a group per part that raises them; keep the groups.
"""

from . import anatomy, blender, bodies, contact, cores, materials, meshes, methods, running

__all__ = ["TEXTS"]

TEXTS: dict[str, tuple[str, str]] = {
    **meshes.TEXTS,
    **blender.TEXTS,
    **bodies.TEXTS,
    **contact.TEXTS,
    **materials.TEXTS,
    **anatomy.TEXTS,
    **methods.TEXTS,
    **cores.TEXTS,
    **running.TEXTS,
}
