# SPDX-License-Identifier: GPL-3.0-or-later
"""How many objects of each role a scene has, and how many tets: what Blender's statistics do not count."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import bpy

from ...solver.scene.formulation import refinement_factor
from ..cache import cache_folder_status
from ..evaluation.geometry_update_counter import edit_count
from ..export import artist_tet_files, formulation
from ..objects import roles, tet_estimate
from ..properties.role_definitions import BODY, BONE, COLLIDER, HEAT_SOURCE, ROLE_BY_KEY, WRAP
from ..runtime.memo import Throttle
from . import bake_status

# plurals, in the order of the rows
ROLE_LABELS = {BODY: "Bodies", COLLIDER: "Colliders", BONE: "Bone Meshes", HEAT_SOURCE: "Heat Sources", WRAP: "Wraps"}
TETS_LABEL, ESTIMATED_TETS_LABEL, TETS_ICON = "Tets", "Tets (About)", "MESH_ICOSPHERE"
# what the number of tets of the active object depends on, which Blender does not report when it is edited
WATCHED_SETTINGS = (
    "role", "method", "sizing", "tet_count", "tet_size", "divisions", "interior_size", "coarsest_size", "use_fracture"
)  # fmt: skip
MAX_VIEW_LAYERS = 100  # whose counts are remembered
MAX_AGE_SECONDS, COUNT_TIME_SHARE = 1.0, 0.02


@dataclass(frozen=True)
class CountRow:
    """A number of things in a scene.

    Attributes:
        label, icon: For people.
        total: All of them.
        selected: Those of selected objects.
        role: Key of the role that is counted, or "" for tets.
    """

    label: str
    icon: str
    total: int
    selected: int
    role: str = ""


@dataclass(frozen=True)
class SceneCounts:
    """The rows of a scene that are not zero: objects by role, and tets.

    Attributes:
        rows: In the order in which they are shown; none where the scene has no object with a role.
        has_selection: Whether a counted object is selected.
    """

    rows: tuple[CountRow, ...] = ()
    has_selection: bool = False

    def value_text(self, row: CountRow) -> str:
        """Returns a number as Blender's statistics show it: "1 / 3" while something is selected."""
        return f"{row.selected:,} / {row.total:,}" if self.has_selection else f"{row.total:,}"

    @property
    def line(self) -> str:
        """All rows in one line, as in Blender's status bar: "Bodies:1/3 | Tets:5,000/15,000"."""
        return " | ".join(f"{row.label}:{self.value_text(row).replace(' ', '')}" for row in self.rows)


_counts: Throttle[SceneCounts] = Throttle(MAX_VIEW_LAYERS, MAX_AGE_SECONDS, COUNT_TIME_SHARE)


def scene_counts(scene: bpy.types.Scene, view_layer: bpy.types.ViewLayer) -> SceneCounts:
    """Returns the counts for display, counted again after an edit, and else at most once a second."""
    active = view_layer.objects.active
    watched = None if active is None else tuple(getattr(active.sinew, name) for name in WATCHED_SETTINGS)
    stamp = (edit_count(), cache_folder_status.invalidation_count(), active and active.session_uid, watched)
    key = (scene.session_uid, view_layer.name)
    return _counts.result(key, lambda: count_scene(scene, view_layer), stamp)


def count_scene(scene: bpy.types.Scene, view_layer: bpy.types.ViewLayer) -> SceneCounts:
    """Counts the objects of each role, and the tets of the bake, or of the estimate where it is out of date."""
    members = {
        BODY: roles.bodies(scene),
        COLLIDER: roles.colliders(scene),
        BONE: roles.bones(scene),
        HEAT_SOURCE: roles.heat_sources(scene),
        WRAP: roles.wraps(scene),
    }
    rows = []
    for key, label in ROLE_LABELS.items():
        selected = _selected(members[key], view_layer)
        rows.append(CountRow(label, ROLE_BY_KEY[key].icon, len(members[key]), len(selected), key))
    baked = _baked_tets(scene, members[BODY])
    tets = {obj: known if (known := baked.get(obj)) is not None else _estimate(scene, obj) for obj in members[BODY]}
    selected_tets = sum(tets[obj] for obj in _selected(members[BODY], view_layer))
    label = ESTIMATED_TETS_LABEL if None in baked.values() or not baked else TETS_LABEL
    rows.append(CountRow(label, TETS_ICON, sum(tets.values()), selected_tets))
    shown = tuple(row for row in rows if row.total)
    return SceneCounts(shown, any(row.selected for row in shown))


def _selected(objects: Iterable[bpy.types.Object], view_layer: bpy.types.ViewLayer) -> list[bpy.types.Object]:
    return [obj for obj in objects if obj.select_get(view_layer=view_layer)]


def _baked_tets(scene: bpy.types.Scene, bodies: Iterable[bpy.types.Object]) -> dict[bpy.types.Object, int | None]:
    """Returns how many tets each body has in the bake, None where it took no part; nothing without a current bake."""
    status = bake_status.status(scene)
    if status.outdated or (status.frame is None and not status.is_running):
        return {}
    return {obj: bake_status.tet_count(scene, obj) for obj in bodies}


def _estimate(scene: bpy.types.Scene, obj: bpy.types.Object) -> int:
    """Returns about how many tets a body will get, to two digits, or how many its file has."""
    if roles.is_rigid(obj):
        return 1
    if roles.is_sheet(obj):
        return len(obj.data.edges)
    if obj.sinew.method == "GIVEN":
        found = artist_tet_files.tet_count(obj)
        count = found if isinstance(found, int) else 0
    else:
        count = tet_estimate.tet_count(obj, scene.unit_settings.scale_length)
        count = round(count, -max(len(str(count)) - 2, 0))
    return count * refinement_factor(formulation.read_formulation(obj.sinew))
