# SPDX-License-Identifier: GPL-3.0-or-later
"""Every setting is declared once: window, export, digest, checks and manual follow from the tables."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

bpy = pytest.importorskip("bpy", reason="needs Blender's module")

from fixtures.blender_scenes import add_box, fresh
from fixtures.fake_layout import FakeLayout
from sinew.addon.export import settings_to_scene
from sinew.addon.export.input_digest import settings_digest
from sinew.addon.objects import roles
from sinew.addon.panels import panels, property_rows
from sinew.addon.properties.role_definitions import FLESH, ROLES
from sinew.addon.properties.unit_proxies import proxies_of
from sinew.solver.runtime.errors import BadInput
from sinew.solver.scene import (
    fibres,
    fine_regions,
    flesh,
    force_fields,
    formulation,
    goal,
    muscle,
    pressure,
    rigid_core,
    scene,
    seams,
    sheet,
    stretch_limit,
    surface_detail,
)
from sinew.solver.scene.serialisation.field_schema import declared_fields
from sinew.solver.scene.serialisation.range_check import check_ranges
from sinew.solver.scene.serialisation.schema_constraints import Limits
from sinew.solver.scene.settings import flesh_settings
from sinew.solver.scene.settings import setting as kinds
from sinew.solver.scene.settings.setting import Setting
from sinew.solver.scene.settings.tables import (
    BODY,
    BONE,
    COLLIDER,
    COLLISION_PANELS,
    HEAT_SOURCE,
    MAIN_PANEL,
    OBJECT_SETTINGS,
    SCENE_SETTINGS,
    SUBJECTS,
    settings_of_role,
)

ROOT = Path(__file__).resolve().parent.parent
ALL_SETTINGS = OBJECT_SETTINGS | SCENE_SETTINGS
ROLES_OF = {setting.name: subject.roles for subject in SUBJECTS for setting in subject.settings}
PARTS: dict[str, Any] = {
    part.__name__: part
    for part in (
        scene.Material,
        scene.MaterialPaint,
        scene.RestScale,
        scene.Plasticity,
        scene.Heat,
        scene.Fracture,
        scene.HeatSource,
        scene.Meshing,
        fine_regions.FineRegions,
        scene.Body,
        scene.Settings,
        scene.Collider,
        scene.Collision,
        flesh.Flesh,
        flesh.Bone,
        formulation.FormulationSettings,
        rigid_core.Core,
        rigid_core.Pull,
        force_fields.FieldWeights,
        goal.Goal,
        muscle.Muscle,
        fibres.Fibres,
        pressure.Pressure,
        seams.Seams,
        sheet.Sheet,
        stretch_limit.StretchLimit,
        surface_detail.SurfaceDetail,
    )
}
WITH_FIELD = [name for name, each in ALL_SETTINGS.items() if each.field]
RANGED = [name for name in WITH_FIELD if ALL_SETTINGS[name].limits and ALL_SETTINGS[name].kind == kinds.NUMBER]

# settings of earlier versions and of scripts
FORMER = {setting.name for setting in (*flesh_settings.ARMATURE_SETTINGS, *flesh_settings.BONE_HOLD_SETTINGS)}


def test_groups_are_called_groups() -> None:
    """As Blender's cloth calls them: "Paint Stiffness" reads as a button that goes to Weight Paint."""
    labels = [each.label for each in ALL_SETTINGS.values() if each.kind == kinds.WEIGHT_GROUP]
    assert labels and [label for label in labels if not label.endswith((" Group", "Mask"))] == []


def settings_page() -> Any:
    spec = importlib.util.spec_from_file_location("settings_page", ROOT / "scripts" / "settings_page.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def objects_of_all_roles() -> dict[str, bpy.types.Object]:
    """Returns a new scene's flesh, with everything that a body may have beside it, a bone, a collider and a source."""
    fresh()
    made = {}
    for role in (BODY, BONE, COLLIDER, HEAT_SOURCE):
        made[role] = add_box(role.title(), divisions=3)
        {BODY: roles.make_body, BONE: roles.make_bone, COLLIDER: roles.make_collider}.get(role, roles.make_heat_source)(
            made[role]
        )
    return made


def reset(made: dict[str, bpy.types.Object]) -> None:
    """Gives all settings their defaults."""
    owners = [(obj.sinew, OBJECT_SETTINGS) for obj in made.values()] + [(bpy.context.scene.sinew, SCENE_SETTINGS)]
    for own, table in owners:
        for name in table:
            own.property_unset(name)


def let_count(own: bpy.types.PropertyGroup, each: Setting) -> None:
    """Sets what a setting waits for."""
    for condition in each.when:
        if condition.values:
            setattr(own, condition.setting, condition.values[-1])
        elif ALL_SETTINGS[condition.setting].kind == kinds.OBJECT:
            setattr(own, condition.setting, bpy.data.objects["Collider"])
        elif ALL_SETTINGS[condition.setting].kind == kinds.COLLECTION:
            setattr(own, condition.setting, bpy.data.collections.new("Near"))
        else:
            setattr(own, condition.setting, "Group")


def changed_value(own: bpy.types.PropertyGroup, each: Setting) -> Any:
    """Returns another value of a setting than it has."""
    now = getattr(own, each.name)
    if each.kind == kinds.SWITCH:
        return not now
    if each.kind == kinds.CHOICE:
        return next(choice.identifier for choice in each.choices if choice.identifier != now)
    if each.kind == kinds.CHOICES:
        return {each.choices[0].identifier} ^ now
    if each.kind == kinds.VECTOR:
        return [value + 1.0 for value in now]
    if each.kind in (kinds.NUMBER, kinds.INTEGER):
        low, high = each.range
        step = 1 if each.kind == kinds.INTEGER else 0.01 * abs(now) + 1.0e-6
        return now - step if low is None or now - step >= low else now + step
    return "Other"


def panel_context(obj: bpy.types.Object) -> Any:
    preferences = SimpleNamespace(system=SimpleNamespace(ui_scale=1.0))  # it is 0 where there is no window
    shown = {"preferences": preferences, "region": SimpleNamespace(width=300)}
    return SimpleNamespace(scene=bpy.context.scene, object=obj, **shown)


def test_names_are_unique_and_words_are_plain() -> None:
    assert len(ALL_SETTINGS) == sum(len(subject.settings) for subject in SUBJECTS)
    for each in ALL_SETTINGS.values():
        assert each.label and each.tooltip and not each.description.endswith("."), each.name
        assert len(each.tooltip) < 200 and each.tooltip.count(". ") <= 2, f"{each.name}: short sentences"
        assert all(condition.setting in ALL_SETTINGS for condition in each.when), each.name
        numbers = [choice.number for choice in each.choices]
        assert len(numbers) == len(set(numbers)), each.name


def test_blender_has_the_properties() -> None:
    scene_settings, object_settings = fresh().sinew, add_box().sinew
    for name, each in ALL_SETTINGS.items():
        own = scene_settings if name in SCENE_SETTINGS else object_settings
        rna = own.bl_rna.properties[name]
        assert (rna.name, rna.description) == (each.label, each.description)
        assert rna.is_animatable == each.is_animated, name
        if each.kind in (kinds.NUMBER, kinds.INTEGER):
            low, high = each.range
            assert rna.default == pytest.approx(each.default), name
            assert low is None or rna.hard_min == pytest.approx(low), name
            assert high is None or rna.hard_max == pytest.approx(high), name
        if each.choices:
            items = [(item.identifier, item.name, item.description, item.value) for item in rna.enum_items]
            assert items == [(c.identifier, c.label, c.tooltip, c.number) for c in each.choices], name


def test_every_property_is_in_a_table() -> None:
    scene_settings = fresh().sinew
    for own, table in ((add_box().sinew, OBJECT_SETTINGS), (scene_settings, SCENE_SETTINGS)):
        names = {p.identifier for p in own.bl_rna.properties if not p.is_hidden} - {"rna_type", "name"}
        proxies = {proxy.name for setting in table.values() for proxy in proxies_of(setting)}
        assert names - proxies - {"role", "extra_roles"} == set(table)


def test_every_setting_is_drawn_in_its_panel() -> None:
    made = objects_of_all_roles()
    ground = made[COLLIDER]
    with bpy.context.temp_override(object=ground, active_object=ground, selected_objects=[ground]):
        bpy.ops.rigidbody.object_add(type="PASSIVE")  # what shows the panel Rigid Body
    states: list[dict[str, Any]] = [
        {"use_scene_range": False},
        {"sizing": "SIZE"},
        {"sizing": "COUNT"},
        {"use_preview_tets": True},
    ]
    near = bpy.data.collections.new("Near")
    states += [{"method": "ADAPTIVE", "fine_collection": near, "refines_dynamically": True}, {"method": "SHEET"}]
    states += [{"method": "GIVEN"}, {"method": "RIGID"}]
    states += [{"motion": motion, "use_armature_bones": True} for motion in ("POSE", "JIGGLE")]
    states += [{"activation_source": choice.identifier} for choice in ALL_SETTINGS["activation_source"].choices]
    states += [
        {"motion": "ELASTIC", "formulation": choice.identifier} for choice in ALL_SETTINGS["formulation"].choices
    ]
    states += [
        {"motion": "POSE", "use_muscle": True, "fibre_source": choice.identifier}
        for choice in ALL_SETTINGS["fibre_source"].choices
    ]
    labels = {name: label for name, label, *_ in panels.PANEL_TABLE}
    drawn: dict[str, set[str]] = {name: {labels[key]} for key, name in property_rows.HEADER_SWITCHES.items()}
    scene_settings = bpy.context.scene.sinew
    for state in states:
        for name, value in state.items():
            setattr(scene_settings if name in SCENE_SETTINGS else made[BODY].sinew, name, value)
        for obj in made.values():
            context = panel_context(obj)
            shown = panels._shown_panels(context) | panels.SCENE_PANELS
            rows = [(label, draw) for name, label, draw, _ in panels.PANEL_TABLE if name in shown]
            for label, draw in [(MAIN_PANEL, panels.main_layout.draw_main), *rows]:
                layout = FakeLayout()
                draw(layout, context)
                for _, name in layout.drawn:
                    drawn.setdefault(name, set()).add(label)
    # one waits for a bake, others are rows of attachments now
    missing = set(ALL_SETTINGS) - set(drawn) - {"protect"} - FORMER
    assert not missing, missing
    for subject in SUBJECTS:
        places = {"Collision", "Collider"} if subject.title == COLLISION_PANELS else {subject.title}
        for setting in subject.settings:
            assert setting.name in {"protect", *FORMER} or places <= drawn[setting.name], setting.name


def test_the_scene_gets_the_values() -> None:
    made = objects_of_all_roles()
    for name in WITH_FIELD:
        each = ALL_SETTINGS[name]
        owner, _, field = each.field.partition(".")
        declared = declared_fields(PARTS[owner])[field]
        limits = declared.rule(Limits) or next((item.rule(Limits) for item in declared.items), None)
        assert each.limits is None or limits == each.limits, f"{name}: one range for window and solver"
        if each.kind in (kinds.WEIGHT_GROUP, kinds.VECTOR_ATTRIBUTE, kinds.TABLE):
            continue  # arrays: tests/test_export_materials.py reads them
        reset(made)
        own = bpy.context.scene.sinew if name in SCENE_SETTINGS else made[ROLES_OF[name][0]].sinew
        let_count(own, each)
        before = settings_to_scene.read_fields(PARTS[owner], own)[field]
        setattr(own, name, changed_value(own, each))
        after = settings_to_scene.read_fields(PARTS[owner], own)[field]
        assert before != after, name
        assert each.kind != kinds.CHOICE or after in each.words, name


def test_values_out_of_range_are_named() -> None:
    for name in RANGED:
        each = ALL_SETTINGS[name]
        owner, _, field = each.field.partition(".")
        required: dict[str, Any] = {"key": "a", "name": "A"} if owner in ("Collider", "HeatSource", "Bone") else {}
        if owner == "Bone":
            required |= {"vertices": [], "triangles": []}
        with pytest.raises(BadInput) as caught:
            check_ranges(PARTS[owner](**required, **{field: float("nan")}))
        assert each.limits.label == each.label and each.label in caught.value.sentence, name


# data-blocks and files: tests/test_flesh_outdated.py, test_collision_panel.py and test_operators_files.py change them
ELSEWHERE = (kinds.OBJECT, kinds.COLLECTION, kinds.MATERIAL, kinds.TABLE, kinds.FILE, kinds.FOLDER)
# they change other values, or the digest has what they come to; one counts for Blender's rigid bodies alone, as
# tests/test_export_joints.py shows
REPLACED = ("preset", "friction_preset", "muscle_preset", "frame_start", "preroll", "use_rigid_body")


def test_the_digest_knows_what_changes_a_bake() -> None:
    made = objects_of_all_roles()
    body = made[BODY].sinew
    wrong = []
    for name, each in ALL_SETTINGS.items():
        if each.kind in ELSEWHERE or name in REPLACED:
            continue
        reset(made)
        body.use_heat = name == "air_temperature" or HEAT_SOURCE in ROLES_OF[name]
        body.motion = "POSE" if name.startswith("pose_") or BONE in ROLES_OF[name] else "ELASTIC"
        own = bpy.context.scene.sinew if name in SCENE_SETTINGS else made[ROLES_OF[name][0]].sinew
        let_count(own, each)
        before = settings_digest(bpy.context.scene)
        setattr(own, name, changed_value(own, each))
        if (settings_digest(bpy.context.scene) != before) != each.changes_bake:
            wrong.append(name)
    assert not wrong


def test_each_role_is_declared_once() -> None:
    shown = [name for role in (*ROLES, FLESH) for name in role.panels]
    shown.remove("attachments")  # bodies and wraps have it
    shown.remove("rigid_body")  # bodies and colliders have it
    assert len(shown) == len(set(shown)), "a panel belongs to one role"
    assert set(shown) | panels.SCENE_PANELS == {name for name, *_ in panels.PANEL_TABLE}
    items = add_box().sinew.bl_rna.properties["role"].enum_items
    assert [(item.name, item.icon) for item in items][1:] == [(role.label, role.icon) for role in ROLES]
    for role in ROLES:
        assert settings_of_role(role.key), role.key


def test_the_manual_is_what_the_tables_say() -> None:
    page = settings_page()
    text = page.PAGE.read_text(encoding="utf-8")
    assert text == page.page(), "run scripts/settings_page.py"
    assert set(page.CHAPTERS) <= {subject.title for subject in SUBJECTS}
    for chapter in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        labels = re.findall(r"^\| (.*?) \| <a id=", chapter, re.MULTILINE)
        assert len(labels) == len(set(labels)), f"two rows of one name: {labels}"
    for name, each in ALL_SETTINGS.items():
        anchored = f'| <a id="{name}"></a>`{name}` |'
        assert anchored in text and each.description.removesuffix(". Can be keyframed") in text, name
