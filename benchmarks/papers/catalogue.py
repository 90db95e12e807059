# SPDX-License-Identifier: GPL-3.0-or-later
"""The experiments, in the order of the page."""

from __future__ import annotations

import importlib

from papers.experiment import Experiment

# paper → its title
PAPERS = {
    "MDMJC02": "Müller, Dorsey, McMillan, Jagnow, Cutler: Stable Real-Time Deformations, 2002",
    "HS04": "Hauth, Strasser: Corotational Simulation of Deformable Solids, 2004",
    "NPF05": "Nesme, Payan, Faure: Efficient, Physically Plausible Finite Elements, 2005",
    "MG04": "Müller, Gross: Interactive Virtual Materials, 2004",
}
NAMES = (
    "mdmjc02_volume",
    "mdmjc02_cost",
    "mdmjc02_divergence",
    "mdmjc02_largest_step",
    "mdmjc02_ghost_force",
    "mdmjc02_springs",
    "mdmjc02_core",
    "mdmjc02_live",
    "hs04_forces",
    "hs04_bar",
    "hs04_frames",
    "hs04_cost",
    "hs04_levels",
    "hs04_liver",
    "npf05_torque",
    "npf05_cost",
    "npf05_products",
    "npf05_crushed",
    "npf05_reversed",
    "mg04_cost",
    "mg04_scenes",
    "mg04_live",
    "mg04_condition",
)  # fmt: skip


def load(name: str) -> Experiment:
    """Returns an experiment by the name of its file."""
    experiment = importlib.import_module(f"papers.{name}").EXPERIMENT
    assert isinstance(experiment, Experiment)
    return experiment
