# SPDX-License-Identifier: GPL-3.0-or-later
"""Who touches whom, in the window: collections, what the panel says of them, and notes about what touches."""

from __future__ import annotations

import pytest

bpy = pytest.importorskip("bpy")

from fixtures.blender_scenes import fresh
from fixtures.collision_objects import body, collection, collider
from sinew.addon.export import contact_warnings, input_warnings, participants
from sinew.addon.objects import collision_filter
from sinew.addon.panels import collision_layout
from test_addon import drawn


def test_two_touch_where_each_is_in_the_collection_of_the_other() -> None:
    scene = fresh()
    a, b, bowl = body("A"), body("B"), collider()
    keys = {a: "A", b: "B", bowl: "Bowl"}

    def ignored() -> set[frozenset[str]]:
        return {frozenset(pair) for pair in collision_filter.ignored_pairs(scene, keys)}

    assert ignored() == set() and collision_filter.collision_partners(scene, a) == [b, bowl]
    only_bowl, everything = collection("Only Bowl", bowl), collection("All", a, b)
    a.sinew.collision_collection = only_bowl
    assert ignored() == {frozenset("AB")}
    assert collision_filter.collision_partners(scene, a) == [bowl] and collision_filter.collision_partners(
        scene, b
    ) == [bowl]
    everything.children.link(only_bowl)
    a.sinew.collision_collection = everything
    assert ignored() == set(), "what is in a collection inside it counts"
    bowl.sinew.collision_collection = collection("Only B", b)
    assert ignored() == {frozenset({"A", "Bowl"})}
    assert collision_filter.collision_partners(scene, bowl) == [b], "colliders touch no colliders"
    assert set(collision_filter.ignored_pairs(scene, {a: "A"})) == set(), "only what is read"


def test_the_panel_names_what_is_touched() -> None:
    fresh()
    a, bowl = body("A"), collider()
    assert not any(line.startswith("Touches") for line in drawn(a, "draw_collision").lines)
    others = [body(f"B{i}") for i in range(4)]
    a.sinew.collision_collection = collection("Some", *others, bowl)
    assert "Touches B0, B1, B2 and 2 more" in " ".join(drawn(a, "draw_collision").lines)
    a.sinew.collision_collection = collection("Bowl Alone", bowl)
    assert "Touches Bowl" in drawn(a, "draw_collision").lines
    a.sinew.collision_collection = collection("Nothing")
    assert "Touches nothing: no other body or collider is in this collection" in " ".join(
        drawn(a, "draw_collision").lines
    )
    assert "filter-empty" in {note.kind for note in input_warnings.input_warnings(bpy.context.scene)}


def test_the_panel_says_whose_filter_leaves_nothing() -> None:
    scene = fresh()
    a, bowl = body("A"), collider()
    bowl.sinew.collision_collection = collection("Others", body("B"))
    assert collision_layout.no_partners_note(scene, a) == (
        'Touches nothing: "Bowl" does not collide with it, since this object is not in "Others"'
    )
    a.sinew.collision_collection = collection("Bowl Alone", bowl)
    assert 'since this object is not in "Others"' in " ".join(drawn(a, "draw_collision").lines)
    (note,) = (note for note in input_warnings.input_warnings(scene) if note.kind.startswith("filter"))
    assert note.kind == "filter-one-sided" and '"Bowl"' in note.sentence and '"Others"' in note.sentence
    bowl.sinew.collision_collection = collection("Nobody")
    assert "no body is in this collection" in " ".join(drawn(bowl, "draw_collider").lines)


def test_simulated_sizes_that_differ_are_told_once_with_the_worst_pair() -> None:
    scene = fresh()
    a, b, c = body("A"), body("B"), body("C")
    for obj, size in ((a, 1.0), (b, 2.0), (c, 0.5)):
        obj.sinew.use_simulated_size, obj.sinew.simulated_size = True, size
    assert contact_warnings.simulated_scale(a) == pytest.approx(0.5), "boxes are 2 m high"
    found = [note for note in contact_warnings.contact_warnings(scene) if note.kind == "scales-differ"]
    assert [(note.details["name"], note.details["other"], note.details["times"]) for note in found] == [("C", "B", "4")]
    c.sinew.simulated_size = b.sinew.simulated_size = 1.05
    assert not [note for note in contact_warnings.contact_warnings(scene) if note.kind == "scales-differ"], (
        "alike enough"
    )
    b.sinew.simulated_size = 2.0
    b.sinew.collision_collection = collection("Nobody")
    assert not [note for note in contact_warnings.contact_warnings(scene) if note.kind == "scales-differ"], (
        "they do not touch"
    )


def test_a_plate_thinner_than_its_tets_is_told_where_others_touch_it() -> None:
    scene = fresh()
    plate = body("Plate")
    plate.scale = (2.0, 1.0, 0.025)  # 2 x 1 x 0.05 m
    bpy.context.view_layer.update()
    plate.sinew.sizing, plate.sinew.tet_size = "SIZE", 0.1

    def told() -> list:
        return [note for note in contact_warnings.contact_warnings(scene) if note.kind == "thin-for-tets"]

    assert told() == [], "it is alone"
    body("Ball")
    (note,) = told()
    assert note.details["name"] == "Plate" and float(note.details["thickness"]) == pytest.approx(0.1 / 2.15, abs=0.0006)
    plate.sinew.tet_size = 0.02
    assert told() == []


def test_no_collider_has_the_key_of_a_body() -> None:
    scene = fresh()
    ball = body("Ball")
    ball.sinew.key = "Ball"  # as it was baked
    ball.name = "Old Ball"
    bowl = collider("Ball")
    found = participants.find_participants(scene)
    assert found.bodies == {ball: "Ball"} and found.colliders == {bowl: "Ball_2"}
