# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies that touch go on from a kept state as they would have gone, on one thread as on two."""

from dataclasses import replace

import pytest

from fixtures.contact_scenes import stack
from fixtures.scenes import Run
from sinew.solver.runtime.threads.thread_count import set_thread_count, thread_count
from sinew.solver.scene.flesh import DYNAMIC, Flesh

KINDS = {
    "corotated": [None],
    "flesh": [Flesh(DYNAMIC)],
    "mixed": [None, Flesh(DYNAMIC), Flesh(DYNAMIC, scheme="newmark")],
}


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_bytes_after_resume(tmp_path, kind):
    scene, flesh, threads = stack(3, gap=0.004, E=1.0e5), KINDS[kind], thread_count()
    bodies = [
        replace(body, flesh=flesh[number % len(flesh)], gravity_in_shape=False)
        for number, body in enumerate(scene.bodies)
    ]
    scene = replace(scene, bodies=tuple(bodies))
    whole = Run(tmp_path / "whole", scene)
    whole.advance(2)
    resumed = Run(tmp_path / "resumed", scene)
    resumed.simulation.state = whole.state.copy()
    whole.advance(2)
    try:
        set_thread_count(1)
        resumed.advance(2)
    finally:
        set_thread_count(threads)
    assert whole.reports[-1].contacts > 20
    assert whole.state.x.tobytes() == resumed.state.x.tobytes()
    assert whole.state.v.tobytes() == resumed.state.v.tobytes()
