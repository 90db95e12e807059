# SPDX-License-Identifier: GPL-3.0-or-later
"""Sinew gives a mesh an inside: soft bodies of tetrahedra, for Blender and for Python.

Blender imports this package as an extension and calls `register` and `unregister`. Everyone else uses it as a library
(docs/library.md): the names below are its public interface. Each is loaded when it is first used, so that importing the
package costs nothing, and loads neither Numba nor SciPy into Blender. `bpy` is imported inside the functions only.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.2.0"

# module → the public names that it has; what type checkers read below has the same ones (tests/test_library.py)
_PUBLIC = {
    # what is asked for
    ".solver.scene.scene": (
        "Body", "Fracture", "Heat", "HeatSource", "Material", "Meshing", "Plasticity", "Scene", "Settings"
    ),
    ".solver.scene.contact": ("Collider", "Collision"),
    ".solver.scene.flesh": ("Bone", "Flesh"),
    ".solver.scene.crack_guide": ("CrackGuide",),
    ".solver.scene.fibres": ("FibreCurves", "FibreLattice", "Fibres", "TendonMesh"),
    ".solver.scene.force_fields": ("FieldWeights", "ForceField"),
    ".solver.scene.formulation": ("FormulationSettings",),
    ".solver.scene.goal": ("Goal",),
    ".solver.scene.hook": ("Hook",),
    ".solver.scene.attachment": ("Attachment",),
    ".solver.scene.muscle": ("Muscle", "MuscleHead"),
    ".solver.scene.pressure": ("Pressure",),
    ".solver.scene.sheet": ("Sheet",),
    ".solver.scene.stretch_limit": ("StretchLimit",),
    ".solver.scene.rigid_core": ("Core", "Hinge", "Pull"),
    ".solver.scene.material_presets": ("MaterialPreset", "find_preset"),
    ".solver.scene.tracks": ("Track",),
    ".solver.scene.constant_wind": ("Wind",),
    ".solver.mesh": ("shapes",),
    # simulations and caches
    ".solver.simulation.simulation": ("FrameCallbacks", "SimulatedFrame", "Simulation"),
    ".solver.simulation.advance_frame": ("FrameReport",),
    ".solver.bake.cache": ("CacheReader", "delete_cache"),
    # meshes and files
    ".solver.mesh.tet_mesh": ("TetMesh",),
    ".solver.mesh.formats.surface_files": ("read_surface",),
    ".solver.mesh.formats.tet_files": ("read_tets", "write_tets"),
    # one step or one equilibrium of a model
    ".solver.api": ("bake", "equilibrium", "hyperelastic", "model_of_tets", "rest_state", "step", "tetrahedralize"),
    ".solver.mechanics.model": ("Model", "Part", "make_model"),
    ".solver.mechanics.state": ("State",),
    ".solver.mechanics.hyperelastic.anisotropic_terms": ("AnisotropicTerm",),
    ".solver.mechanics.hyperelastic.hyperelastic_bodies": ("Hyperelastic",),
    ".solver.constraints.external_forces": ("ExternalForces",),
    ".solver.constraints.pair_forces": ("PairForces",),
    ".solver.constraints.point_forces": ("PointForces",),
    ".solver.integrators.step_report": ("StepReport",),
    ".solver.quasistatic.equilibrium": ("Equilibrium",),
    ".solver.quasistatic.fixed_nodes": ("FixedNodes",),
    # failures
    ".solver.runtime.errors": ("BadInput", "Cancelled", "SinewError", "SolveFailed", "StorageFailed"),
}  # fmt: skip
_MODULE_OF = {name: module for module, names in _PUBLIC.items() for name in names}
__all__ = tuple(_MODULE_OF)

if TYPE_CHECKING:
    from .solver.api import bake as bake
    from .solver.api import equilibrium as equilibrium
    from .solver.api import hyperelastic as hyperelastic
    from .solver.api import model_of_tets as model_of_tets
    from .solver.api import rest_state as rest_state
    from .solver.api import step as step
    from .solver.api import tetrahedralize as tetrahedralize
    from .solver.bake.cache import CacheReader as CacheReader
    from .solver.bake.cache import delete_cache as delete_cache
    from .solver.constraints.external_forces import ExternalForces as ExternalForces
    from .solver.constraints.pair_forces import PairForces as PairForces
    from .solver.constraints.point_forces import PointForces as PointForces
    from .solver.integrators.step_report import StepReport as StepReport
    from .solver.mechanics.hyperelastic.anisotropic_terms import AnisotropicTerm as AnisotropicTerm
    from .solver.mechanics.hyperelastic.hyperelastic_bodies import Hyperelastic as Hyperelastic
    from .solver.mechanics.model import Model as Model
    from .solver.mechanics.model import Part as Part
    from .solver.mechanics.model import make_model as make_model
    from .solver.mechanics.state import State as State
    from .solver.mesh import shapes as shapes
    from .solver.mesh.formats.surface_files import read_surface as read_surface
    from .solver.mesh.formats.tet_files import read_tets as read_tets
    from .solver.mesh.formats.tet_files import write_tets as write_tets
    from .solver.mesh.tet_mesh import TetMesh as TetMesh
    from .solver.quasistatic.equilibrium import Equilibrium as Equilibrium
    from .solver.quasistatic.fixed_nodes import FixedNodes as FixedNodes
    from .solver.runtime.errors import BadInput as BadInput
    from .solver.runtime.errors import Cancelled as Cancelled
    from .solver.runtime.errors import SinewError as SinewError
    from .solver.runtime.errors import SolveFailed as SolveFailed
    from .solver.runtime.errors import StorageFailed as StorageFailed
    from .solver.scene.attachment import Attachment as Attachment
    from .solver.scene.constant_wind import Wind as Wind
    from .solver.scene.contact import Collider as Collider
    from .solver.scene.contact import Collision as Collision
    from .solver.scene.crack_guide import CrackGuide as CrackGuide
    from .solver.scene.fibres import FibreCurves as FibreCurves
    from .solver.scene.fibres import FibreLattice as FibreLattice
    from .solver.scene.fibres import Fibres as Fibres
    from .solver.scene.fibres import TendonMesh as TendonMesh
    from .solver.scene.flesh import Bone as Bone
    from .solver.scene.flesh import Flesh as Flesh
    from .solver.scene.force_fields import FieldWeights as FieldWeights
    from .solver.scene.force_fields import ForceField as ForceField
    from .solver.scene.formulation import FormulationSettings as FormulationSettings
    from .solver.scene.goal import Goal as Goal
    from .solver.scene.hook import Hook as Hook
    from .solver.scene.material_presets import MaterialPreset as MaterialPreset
    from .solver.scene.material_presets import find_preset as find_preset
    from .solver.scene.muscle import Muscle as Muscle
    from .solver.scene.muscle import MuscleHead as MuscleHead
    from .solver.scene.pressure import Pressure as Pressure
    from .solver.scene.rigid_core import Core as Core
    from .solver.scene.rigid_core import Hinge as Hinge
    from .solver.scene.rigid_core import Pull as Pull
    from .solver.scene.scene import Body as Body
    from .solver.scene.scene import Fracture as Fracture
    from .solver.scene.scene import Heat as Heat
    from .solver.scene.scene import HeatSource as HeatSource
    from .solver.scene.scene import Material as Material
    from .solver.scene.scene import Meshing as Meshing
    from .solver.scene.scene import Plasticity as Plasticity
    from .solver.scene.scene import Scene as Scene
    from .solver.scene.scene import Settings as Settings
    from .solver.scene.sheet import Sheet as Sheet
    from .solver.scene.stretch_limit import StretchLimit as StretchLimit
    from .solver.scene.tracks import Track as Track
    from .solver.simulation.advance_frame import FrameReport as FrameReport
    from .solver.simulation.simulation import FrameCallbacks as FrameCallbacks
    from .solver.simulation.simulation import SimulatedFrame as SimulatedFrame
    from .solver.simulation.simulation import Simulation as Simulation
else:

    def __getattr__(name: str) -> Any:
        """Loads a public name when it is first asked for."""
        if name not in _MODULE_OF:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        module = importlib.import_module(_MODULE_OF[name], __name__)
        # "shapes" is a module itself
        found = getattr(module, name, None) or importlib.import_module(f"{_MODULE_OF[name]}.{name}", __name__)
        globals()[name] = found
        return found


def __dir__() -> list[str]:
    """Returns the public names, loaded or not."""
    return sorted({*globals(), *_MODULE_OF})


def register() -> None:
    """Add Sinew's panels, operators and properties to Blender."""
    from . import addon

    addon.register()


def unregister() -> None:
    """Take out of Blender what `register` added."""
    from . import addon

    addon.unregister()
