# SPDX-License-Identifier: GPL-3.0-or-later
"""Which passes a bake has to make, and in which order: what is missing or out of date, inside out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import bpy

from ...solver.runtime.errors import BadInput
from ..cache import cache_folder_status, selected_body_caches
from ..cache.bake_passes import BakePass, pass_numbers, passes
from ..evaluation.sample_times import frame_range
from ..export.input_digest import body_digests, settings_digest
from . import outdated_bodies, simulate_selected
from .bake_request import BakeRequest


@dataclass(frozen=True)
class BakeOrder:
    """Passes that are to be baked one after the other.

    Attributes:
        numbers: Of the passes, rising.
        is_forced: Whether all of them are baked, also those that are up to date when their turn comes.
    """

    numbers: tuple[int, ...]
    is_forced: bool


def find_order(scene: bpy.types.Scene, bake: Path, request: BakeRequest) -> BakeOrder:
    """Returns what a request bakes.

    Args:
        scene: The scene.
        bake: The folder of the whole bake.
        request: May ask for one pass alone, or for some bodies.

    Raises:
        BadInput: The scene has no bodies of that pass.
    """
    numbers = pass_numbers(scene)
    if request.chosen is not None:
        chosen = simulate_selected.find_chosen(scene, request.chosen)
        found = simulate_selected.chosen_passes(scene, bake, chosen)
        return BakeOrder(tuple(each.number for each in found), is_forced=True)
    if request.bake_pass is not None:
        if request.bake_pass not in numbers:
            raise BadInput("no-such-pass", name=scene.name, number=request.bake_pass)
        return BakeOrder((request.bake_pass,), is_forced=True)
    if len(numbers) == 1:
        return BakeOrder(numbers, is_forced=True)
    due = [each.number for each in passes(scene, bake) if not is_current(scene, each)]
    return BakeOrder(numbers[numbers.index(due[0]) :], is_forced=False) if due else BakeOrder(numbers, is_forced=True)


def rest_of_order(scene: bpy.types.Scene, bake: Path, order: BakeOrder) -> BakeOrder | None:
    """Returns what is left of an order when its first pass is done, from the next pass that is due on, or None."""
    after = order.numbers[1:]
    cache_folder_status.invalidate()
    for each in passes(scene, bake):
        if each.number in after and (order.is_forced or not is_current(scene, each)):
            return replace(order, numbers=after[after.index(each.number) :])
    return None


def is_current(scene: bpy.types.Scene, bake_pass: BakePass) -> bool:
    """Whether a pass is baked as a whole, of what is in the scene and in the caches of earlier passes now."""
    seen = cache_folder_status.read_status(bake_pass.folder)
    if seen.metadata is None or seen.last_frame is None or seen.problem is not None:
        return False
    played, end = selected_body_caches.played_folders(bake_pass.folder), frame_range(scene)[1]
    ends = (cache_folder_status.read_status(each).last_frame for each in played)
    if any(last is None or last < end for last in ends):
        return False
    now = partial(settings_digest, scene, bake_pass), partial(body_digests, scene, bake_pass)
    return not outdated_bodies.is_outdated(bake_pass, *now)


def resuming_request(scene: bpy.types.Scene, request: BakeRequest, bake_pass: BakePass) -> BakeRequest:
    """Returns a request that goes on with what a pass has, where that is up to date."""
    seen = cache_folder_status.read_status(bake_pass.folder)
    if selected_body_caches.newest_first(bake_pass.folder):
        return replace(request, resume=False)
    end = frame_range(scene)[1]
    is_begun = seen.metadata is not None and seen.last_frame is not None and seen.last_frame < end
    fits = is_begun and seen.metadata is not None and seen.metadata.settings == settings_digest(scene, bake_pass)
    return replace(request, resume=bool(fits and seen.resume_frame() is not None))
