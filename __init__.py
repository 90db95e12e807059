# SPDX-License-Identifier: GPL-3.0-or-later
"""Sinew gives a mesh an inside: soft bodies of tetrahedra for Blender.

Blender imports this package as an extension and calls `register` and `unregister`; everyone else
imports `sinew.solver`, which needs no Blender. `bpy` is imported inside the functions only, so that
the package can be imported, and its tests collected, where there is no Blender.
"""

__version__ = "0.2.0"


def register() -> None:
    """Add Sinew's panels, operators and properties to Blender."""
    from . import addon

    addon.register()


def unregister() -> None:
    """Take out of Blender what `register` added."""
    from . import addon

    addon.unregister()
