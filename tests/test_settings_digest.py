# SPDX-License-Identifier: GPL-3.0-or-later
"""Bakes of 0.2.0 stay up to date: the digest has the settings that it had then, in their order."""

from __future__ import annotations

from typing import Any

import pytest

bpy = pytest.importorskip("bpy", reason="needs Blender's module")

from fixtures.blender_scenes import add_box, fresh
from sinew.addon.blender_data.rna_serialisation import rna_parts
from sinew.addon.export.relevant_settings import unread_scene_settings, unread_settings
from sinew.addon.objects import roles

# of bodies with some settings, and of objects of other roles: what the digest of 0.2.0 had of them
STATES: dict[str, dict[str, Any]] = {
    "plain": {},
    "all on": {
        "use_plasticity": True,
        "use_heat": True,
        "use_fracture": True,
        "use_toughness": True,
        "use_core": True,
        "plastic_law": "ADDITIVE",
    },
    "hierarchical": {"formulation": "HIERARCHICAL", "method": "GIVEN"},
    "pose": {"motion": "POSE", "use_armature_bones": True, "use_armature_bone_spring": True},
    "jiggle": {"motion": "JIGGLE"},
}
IN_DIGEST = {
    "plain": (
        "body_friction body_thickness self_collision attributes use_fracture use_heat use_plasticity motion "
        "method sizing divisions tet_size interior_size use_simulated_size simulated_size gravity_in_shape "
        "initial_velocity pin_group pin_stiffness affect_group youngs_modulus poisson_ratio density "
        "mass_damping stiffness_damping role"
    ),
    "all on": (
        "use_core core_skin_thickness core_group body_friction body_thickness self_collision attributes "
        "use_fracture breaking_stress use_toughness toughness scatter seed strength_group unbreakable_group "
        "most_splits most_pieces use_heat temperature conductivity heat_capacity heat_exchange melting_point "
        "use_plasticity plastic_law yield_strain flow maximum_strain hardening yield_group flow_group "
        "maximum_group motion method sizing divisions tet_size interior_size use_simulated_size "
        "simulated_size gravity_in_shape initial_velocity pin_group pin_stiffness affect_group youngs_modulus "
        "poisson_ratio density mass_damping stiffness_damping role"
    ),
    "hierarchical": (
        "formulation formulation_rotations_every formulation_levels formulation_coarse_solver "
        "formulation_scheme body_friction body_thickness self_collision attributes use_fracture use_heat "
        "use_plasticity motion method use_simulated_size simulated_size gravity_in_shape initial_velocity "
        "pin_group pin_stiffness affect_group youngs_modulus poisson_ratio density mass_damping "
        "stiffness_damping role"
    ),
    "pose": (
        "body_friction body_thickness attributes use_fracture use_heat use_plasticity motion flesh_law "
        "self_contact stiffness_group volume_group density_group attachment_group rest_from_keys "
        "use_armature_bones armature_bone_radius use_armature_bone_spring armature_bone_stiffness method "
        "sizing divisions tet_size interior_size use_simulated_size simulated_size gravity_in_shape "
        "initial_velocity pin_group pin_stiffness affect_group youngs_modulus poisson_ratio density "
        "mass_damping stiffness_damping role"
    ),
    "jiggle": (
        "body_friction body_thickness self_collision attributes use_fracture use_heat use_plasticity motion "
        "flesh_law jiggle_scheme stiffness_group volume_group density_group attachment_group rest_from_keys "
        "use_armature_bones method sizing divisions tet_size interior_size use_simulated_size simulated_size "
        "gravity_in_shape initial_velocity pin_group pin_stiffness affect_group youngs_modulus poisson_ratio "
        "density mass_damping stiffness_damping role"
    ),
    "COLLIDER": ("collider_shape collider_sides use_collision friction thickness role"),
    "HEAT": ("source_temperature source_radius source_exchange role"),
    "BONE": ("bone_distance use_bone_spring bone_mask_group role"),
}
SCENE_IN_DIGEST = {
    "plain": ("substeps samples_per_frame use_rest_frame tolerance max_iterations"),
    "all on": ("substeps samples_per_frame air_temperature use_rest_frame tolerance max_iterations"),
    "pose": ("substeps samples_per_frame use_rest_frame pose_tolerance pose_iterations tolerance max_iterations"),
}


def names_in_digest(own: bpy.types.PropertyGroup, unread: set[str]) -> list[str]:
    return [part.split("=")[0] for part in rna_parts(own, unread, set(), "") if isinstance(part, str)]


@pytest.mark.parametrize("state", STATES)
def test_bodies_have_the_settings_of_then(state: str) -> None:
    scene = fresh()
    obj = add_box()
    roles.make_body(obj)
    for name, value in STATES[state].items():
        setattr(obj.sinew, name, value)
    assert names_in_digest(obj.sinew, unread_settings(obj, roles.roles_of(obj))) == IN_DIGEST[state].split()
    expected = SCENE_IN_DIGEST.get(state, SCENE_IN_DIGEST["plain"])
    assert names_in_digest(scene.sinew, unread_scene_settings(scene)) == expected.split()


def test_objects_of_other_roles_have_the_settings_of_then() -> None:
    fresh()
    for make, role in ((roles.make_collider, "COLLIDER"), (roles.make_heat_source, "HEAT"), (roles.make_bone, "BONE")):
        obj = add_box(role)
        make(obj)
        assert names_in_digest(obj.sinew, unread_settings(obj, roles.roles_of(obj))) == IN_DIGEST[role].split()
