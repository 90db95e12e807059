# SPDX-License-Identifier: GPL-3.0-or-later
"""Names of all fields of the state (`State.fields`), and which module owns each. Checkpoints store these names.

A field that begins with "node." has a row per node and is copied with its node when nodes split; one that begins with
"tet." has a row per tet, and tets are never renumbered. "{key}" stands for the key of a body.
"""

from __future__ import annotations

# integrators/implicit_euler.py: the next change is likely to be similar, and starting the solve along it saves a
# quarter of the iterations of a swinging beam
VELOCITY_CHANGE = "node.velocity_change"  # v⁺ − v of the last step [m/s], (n, 3)
# integrators/bdf2.py
PREVIOUS_X, PREVIOUS_V = "node.x_before", "node.v_before"  # x⁻ [m] and v⁻ [m/s] of the step before, (n, 3) each
PREVIOUS_DT = "bdf2.length"  # Δt since then [s], 0 for bodies without such a past, (bodies,)
# integrators/system/rotation_reuse.py
ROTATION_AGE = "frames.age"  # steps since the rotations of each body were found, (bodies,)
TET_ROTATION = "tet.rotation"  # R of tets whose rotations are lagged, zero for all others, (m, 3, 3)
NODE_ROTATION = "node.rotation"  # R of nodes whose rotations are lagged, (n, 9)
# mechanics/topology_state.py
TETS_FIELD = "topology.tets"  # nodes of the tets after something broke, (m, 4)
ORIGIN_FIELD = "topology.origin"  # the node of the unbroken model that each node was, (n,)
# mechanics/heat/heated_bodies.py
TEMPERATURE = "node.temperature"  # [°C], (n,): bodies without heat keep that of the air at the first frame
# mechanics/plasticity/plastic_rest_shape.py
FP_INVERSE = "tet.Fp_inverse"  # Fp⁻¹ of the multiplicative law, (m, 3, 3)
FLOWED = "tet.flowed"  # the strain that has flowed under it in all, (m,)
PLASTIC_STRAIN = "tet.plastic_strain"  # of the additive law as xx, yy, zz, xy, yz, zx of the tensor, (m, 6)
# mechanics/sheets/plastic_folds.py
FOLD_ANGLE = "tet.fold_angle"  # by which the angle at rest of a hinge has changed for good, (m,)
FOLD_FLOWED = "tet.fold_flowed"  # the strain at its surface that has flowed, (m,)
# mechanics/sheets/hinge_turns.py
HINGE_BEND = "tet.hinge_bend"  # φ of hinges that are bent by more than a quarter turn, 0 of others [rad], (m,)
# simulation/features/materials.py
MATERIAL_FIELD = "material.{key}"  # values of a body whose material has tracks, in the order of `MATERIAL_TRACKS`, (5,)
# simulation/features/rest_scales.py
REST_SCALE_FIELD = "rest_scale.{key}"  # s of a body whose Rest Scale has a track, (1,)
# simulation/features/muscles.py
ACTIVATION_FIELD = "muscle.{key}.activation"  # a of its units, for a muscle with a track of any, (u,)
# constraints/rest_shape_animation/reshaped_bodies.py
REST_PREFIX = "rest."
REST_FIELD = REST_PREFIX + "{key}"  # nodes of a body at rest, as they were numbered when it was built [m], (n, 3)
# constraints/pins.py
PIN_ERROR_FIELD = "pins.{key}.missed"  # what tets miss of the exact targets [m], (e, 3)
# constraints/hooks.py
HOOK_FIELD = "hook.{key}.{number}"  # places of the points that it holds, in its own space [m], (k, 3)
# constraints/attachments/surface_attachments.py
BROKEN_PREFIX = "broken."
BROKEN_FIELD = BROKEN_PREFIX + "{key}.{number}"  # an attachment that has let go for good, (1,); frames have it, too
# constraints/seams.py
SEAM_FIELD = "seams.{key}"  # which edges of the seams of a sheet have torn, and which have parted since, (m,)
# constraints/joints/joint_step.py
JOINT_PREFIX = "joint."
JOINT_LOAD_FIELD = JOINT_PREFIX + "{key}.load"  # of six coordinates, two motors, six springs [N, N m], (14,)
JOINT_BROKEN_FIELD = JOINT_PREFIX + "{key}.broken"  # a joint that has broken for good, (1,)
# constraints/pressure.py
CHAMBER_FIELD = "pressure.{key}"  # `ChamberMotion` of each sealed chamber of a body, (chambers, 5)
# contact/detection/persistent_contacts.py
CONTACT_PREFIX = "contact."  # contacts that pushed at the end of the step, a field for each of their attributes
# contact/exact/friction.py
EXACT_PREFIX = CONTACT_PREFIX + "exact."  # what Exact contact remembers
EXACT_PAIR_FIELD = EXACT_PREFIX + "pair"  # `RememberedShear.key`, as two numbers, (k, 2)
EXACT_SHEAR_FIELD = EXACT_PREFIX + "shear"  # and its `shear` [m], (k, 3)
# contact/exact/excluded_features.py
EXACT_EXCLUDED_POINTS_FIELD = EXACT_PREFIX + "excluded.points"  # `ExcludedFeatures.points`, (k,)
EXACT_EXCLUDED_EDGES_FIELD = EXACT_PREFIX + "excluded.edges"  # and its `edges`, (m,)
# contact/surface_detail/particles.py
DETAIL_PREFIX = "detail."
DETAIL_FIELD = DETAIL_PREFIX + "{key}.{name}"  # of particles that are dented or pushed; frames have them, too
# contact/overlap_damping.py
SEPARATION_FIELD = "parting"  # two bodies, and how strongly their separation is damped, from 1 down, (k, 3)
# simulation/sleeping_bodies.py
QUIET_TIME = "node.quiet_time"  # for how long its rigid body has hardly moved [s], (n,)
SLEEP_GROUP = "node.sleep_group"  # a number that those have that fell asleep together, −1: it is awake, (n,) int32
ASLEEP_PREFIX = "asleep."  # contacts of what sleeps, a field for each of their attributes
ASLEEP_INPUT_FIELD = ASLEEP_PREFIX + "inputs"  # digest of all that acts on what sleeps, (32,)
# simulation/flesh/unchanged_pose.py
INPUT_DIGEST_FIELD = "flesh.asked"  # digest of all inputs of the pose, and where the flesh is since then, (32,)
RESULT_FIELD = "flesh.told"  # how the pose was found: five numbers, then residuals of bodies, (5 + b,)
PENALTY_FIELD = "flesh.contact_penalty"  # factor on the contact penalty to begin with, where it is not 1, (1,)
FAILED_BODIES_FIELD = "flesh.lost"  # which quasistatic bodies were not at rest, or inside out, (b,)
# simulation/step_halving.py
HALVINGS_FIELD = "step.halvings"  # how often pieces of broken bodies had the last step of the frame halved, (1,)
# simulation/fracture/breakable_bodies.py
CRACK_TIP_FIELD = "node.crack_tip"  # 1 at crack tips and notches, (n,) uint8
DAMAGE_FIELD = "tet.damage"  # largest principal stress over strength, the most so far, at most 1, (m,)
LARGEST_STRESS_FIELD = "fracture.largest_stress"  # largest principal stress so far of each body [Pa], (bodies,)
# simulation/dynamic_refinement/switch_levels.py
LEVEL_SPLIT_FIELD = "levels.{key}.split"  # which tets of a body are split, once some were switched, (c,) uint8
LEVEL_MASS_FIELD = "levels.{key}.mass"  # masses of its nodes since then [kg], (n,)
# simulation/dynamic_refinement/split_criteria.py
LEVEL_QUIET_FIELD = "levels.{key}.quiet"  # checks since each tet could have been one instead of eight, (c,) int32
# simulation/brittle/scene_in_pieces.py
PARTED_FIELD = "brittle.{key}.parted"  # across which faces the tets of a brittle body have parted, (m, 4) uint8
# simulation/cutting/body_cut.py
CUT_PREFIX = "cut."
CUT_FIELD = CUT_PREFIX + "{key}.{name}"  # of all cuts of a body: `BodyCut.tets` and `BodyCut.points`
