# SPDX-License-Identifier: GPL-3.0-or-later
"""The soft torus of S07, figure 2.7, with large tets; `validate_flesh_dynamics.py` has it with smaller ones."""

import pytest

from fixtures.soft_torus import TUBE, soft_torus
from sinew.solver.scene.flesh import Flesh


@pytest.mark.slow
def test_a_crushed_torus_jumps_when_it_is_stiffened_and_is_itself_again(tmp_path):
    story = soft_torus(tmp_path, 8, (30, 36), Flesh("dynamic"))
    print(story)
    assert story.tets == 1536
    assert story.flat < 0.12 * 2.0 * TUBE and story.most_inverted > 0.4 * story.tets
    assert 0.05 < story.leap < 1.5
    assert story.inverted == 0 and story.not_converged <= 0.03 * story.steps
    assert abs(story.height / story.never_crushed - 1.0) < 0.1 and abs(story.volume - 1.0) < 0.05
