# SPDX-License-Identifier: GPL-3.0-or-later
"""Compiles what a small scene needs: builds it, takes its steps, and lays into each other what may meet."""

from __future__ import annotations

import numpy as np

from ...contact.active_set.contact_line_search import apply_step_lengths
from ...contact.contact_step import ContactStep
from ...contact.detection.rigid_collider_contacts import ColliderPose
from ...contact.surfaces.post_fracture_penetration import fill_backside_points
from ...contact.surfaces.surface_winding import surface_winding_numbers
from ...integrators.bdf2 import bodies_by_bdf2
from ...linalg.block_system import BlockSystem, StoppingCriteria
from ...linalg.element_by_element import DAMPING_NUMBERS, STIFFNESS_NUMBERS, ElementProducts
from ...linalg.pcg import solve
from ...mechanics.elements.formulation_strain import formulation_strain
from ...mechanics.elements.linearised_forces import add_linear_forces
from ...mechanics.elements.record_layout import UNDAMPED_LENGTH
from ...mechanics.model import Model
from ...mesh.cutting.cut import check_covered
from ...mesh.cutting.ear_clipping import cut_ears
from ...mesh.node_splitting.minimum_fragment import leaves_small_fragment
from ...mesh.world_to_object import apply_inverse_transform
from ...scene.scene import Scene
from ...scene.tracks import NoTracks, TrackReader
from ...simulation.advance_frame import advance_frame, begin_frame, render_positions
from ...simulation.assembled_scene import AssembledScene
from ...simulation.build import build
from ...simulation.fracture.sheet_stress import tear_normals
from ...simulation.fracture.split_selection import crack_plane_normals
from ...simulation.fracture_topology import split_scene
from ...simulation.simulation import Simulation
from ..attributes.attribute_fields import attribute_values
from .small_scenes import box, enclosing_tet


def compile_small_scene(scene: Scene) -> None:
    """Builds, simulates, and calls what a bake of larger bodies would."""
    tracks = NoTracks()
    built = build(scene, tracks, lambda stage, body: None)
    _compile_contacts(built, tracks)
    _compile_bdf2(built)
    simulation = Simulation(scene, tracks, built, built.initial)
    begin_frame(simulation)
    for frame in range(scene.settings.frame_start + 1, scene.settings.frame_end + 1):
        advance_frame(simulation, frame, lambda positions: None)
        simulation.contact_loads()
    _compile_flesh_contact(simulation)
    _compile_formulations(simulation)
    _compile_fracture(simulation)
    _compile_level_switches(simulation)
    render_positions(simulation.built, simulation.state)
    attribute_values(simulation, scene.bodies[0].attributes)


def _compile_contacts(built: AssembledScene, tracks: TrackReader) -> None:
    """Compiles what a step needs before and after it solves, whether anything is touched or not."""
    state, dt = built.initial.copy(), 0.01
    render_positions(built, state)
    apply_inverse_transform(np.zeros((1, 3)), np.zeros(3), np.eye(3), np.zeros((1, 3), np.float32))
    if not built.colliders:
        return
    places = [ColliderPose(c, np.vstack([c.pose(tracks, 0.0), c.pose(tracks, dt)])) for c in built.colliders]
    contacts = ContactStep(built.contact_points, places, built.model, state, None, np.array([0.0, 0.0, -9.81]), dt)
    contacts.spring_forces()
    contacts.update(state.x)
    contacts.remember(state)


def _compile_bdf2(built: AssembledScene) -> None:
    """Compiles what steps by BDF2 need beside those by implicit Euler, which bodies that lie on something take."""
    model = built.model
    if len(bodies_by_bdf2(model)):
        add_linear_forces(
            0.0, np.zeros((model.node_count, 3)), model.tets, np.zeros((model.tet_count, UNDAMPED_LENGTH))
        )


def _compile_flesh_contact(simulation: Simulation) -> None:
    """Compiles what runs when flesh meets flesh: lays one half of every body into the other."""
    from ...quasistatic.contact import contact_penalty

    flesh = simulation.built.flesh.quasistatic if simulation.built.flesh else None
    if flesh is None or flesh.contact is None:
        return
    x = flesh.model.X.copy()
    for body in flesh.model.bodies:
        own = x[body.nodes]
        middle = 0.5 * (own[:, 1].min() + own[:, 1].max())
        own[own[:, 1] > middle, 1] -= 0.8 * (middle - own[:, 1].min())
    values, force = np.zeros((flesh.model.pattern.block_count, 9)), np.zeros_like(x)
    touching = contact_penalty(flesh.contact, simulation.tracks, 0.0, x)
    touching.add(x, values, force)
    touching.energies(x)


def _compile_formulations(simulation: Simulation) -> None:
    """Compiles what runs when bodies of other methods are weighed in contacts, or are free without a matrix."""
    model = simulation.built.model
    for body in model.bodies:
        formulation_strain(model, body.tets, simulation.state.x)
    if any(method.is_matrix_free for method in model.methods):
        v = np.zeros((model.node_count, 3))
        ElementProducts(
            model.tets[:1], np.zeros((1, STIFFNESS_NUMBERS)), np.zeros((1, DAMPING_NUMBERS))
        ).add_product_to(v, v.copy())


def _compile_level_switches(simulation: Simulation) -> None:
    """Compiles what runs when adaptive tets change their sizes: splits all, and makes them as they were."""
    if not simulation.built.levels:
        return
    from ...simulation.dynamic_refinement.switch_levels import switch_levels

    bodies = simulation.built.levels
    switch_levels(simulation, {body.number: ~body.levels.is_finest for body in bodies})
    switch_levels(simulation, {body.number: body.levels.is_split_at_start for body in bodies})


def _compile_fracture(simulation: Simulation) -> None:
    """Compiles what runs when something breaks: parts all tets of bodies that may."""
    built, state = simulation.built, simulation.state
    whole = built.unbroken or built
    if whole.fracture is not None:
        for body in whole.fracture.bodies:
            normals = crack_plane_normals if body.sheet is None else tear_normals
            normals(built.model, state.x, np.array([built.model.bodies[body.number].tets.start], np.int32))
        across, material = whole.fracture.neighbours.tet, whole.fracture.material
        leaves_small_fragment(np.zeros(1, np.int32), across, across >= 0, material, 0.0)
        parted = split_scene(whole, across >= 0).built
        _compile_small_islands(parted.model)
        _compile_contacts_of_pieces(parted)
        _compile_cutting()


def _compile_contacts_of_pieces(parted: AssembledScene) -> None:
    """Compiles what runs when pieces are in each other, or have to be shortened in their way."""
    model, x, no_pairs = parted.model, np.zeros((1, 3)), np.zeros(0, np.int32)
    apply_step_lengths(x, 0.01, x.copy(), x.copy(), np.zeros(1), model.pattern.island_of_row[:1], x.copy())
    if parted.contact_materials is not None:
        surfaces = parted.contact_materials.surfaces
        surface_winding_numbers(surfaces, surfaces.rest, np.zeros(1, np.int32), np.zeros(1, np.int32))
        out = no_pairs.copy(), no_pairs.copy(), np.zeros(0)
        fill_backside_points(no_pairs, no_pairs, x, np.zeros(1, np.int32), surfaces.arrays, *out)


def _compile_small_islands(model: Model) -> None:
    """Compiles what solves the systems of pieces of a few nodes."""
    pattern, b = model.pattern, np.zeros((model.node_count, 3))
    solve(
        BlockSystem(pattern, np.zeros((pattern.block_count, 9)), b, np.ones(len(b), bool)),
        b.copy(),
        StoppingCriteria(1.0, 1),
    )


def _compile_cutting() -> None:
    """Compiles what cuts the render mesh: finds a cube inside a tet, and fills a square."""
    vertices, triangles = box(np.zeros(3), 1)
    nodes, tets = enclosing_tet(vertices)
    check_covered(nodes - [0.0, 0.0, 0.5], tets, vertices, triangles, "warm-up")
    cut_ears(np.array([[0.0, 1.0, 1.0, 0.0], [0.0, 0.0, 1.0, 1.0]]), np.arange(4, dtype=np.int64))
