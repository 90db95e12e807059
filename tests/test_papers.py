# SPDX-License-Identifier: GPL-3.0-or-later
"""The frame of `make papers`, and its quick experiments, which have to reach their claims."""

from __future__ import annotations

import pytest

pytest.importorskip("matplotlib", reason="make papers draws with it")

from harness import plots, result_store
from harness.result import Picture, Result
from harness.text_table import remark_lines
from papers import catalogue, page
from papers import experiment as table
from papers.experiment import NO_PAPER_VALUE, Experiment, Row


@pytest.mark.parametrize("name", catalogue.NAMES)
def test_experiments_say_what_they_do(name):
    experiment = catalogue.load(name)
    assert isinstance(experiment, Experiment)
    assert experiment.paper in catalogue.PAPERS and experiment.title and len(experiment.what) > 80


def test_the_page_keeps_the_order_of_the_papers():
    order = list(catalogue.PAPERS)
    places = [order.index(catalogue.load(name).paper) for name in catalogue.NAMES]
    assert places == sorted(places)


def test_a_row_that_differs_says_why():
    with pytest.raises(ValueError, match="say why"):
        Row("cost", "2", "3", False)
    with pytest.raises(ValueError, match="names"):
        Row("cost", "", "3")


def test_tables_mark_what_differs():
    rows = [
        Row("cost", "2", "2.0", True),
        Row("time", "1", "5", False, "another machine"),
        Row("a|b", NO_PAPER_VALUE, "1"),
    ]
    lines = table.markdown(rows)
    assert lines[2] == "| cost | 2 | 2.0 |" and lines[3] == "| time | 1 | 5 (differs) |"
    assert lines[4].startswith("| a\\|b |") and remark_lines(rows) == ["- time: another machine"]
    assert table.plain(rows)[2].endswith("DIFFERS: another machine")


def test_what_is_stored_comes_back(tmp_path, monkeypatch):
    monkeypatch.setattr(page, "STORE", tmp_path)
    assert page.load_stored("some") is None
    figure, ax = plots.plot("x", "y")
    ax.plot([0, 1], [1, 0])
    rows = [Row("cost", "2", "2.0", True)]
    result_store.store_result(
        tmp_path, "some", Result(rows, [Picture("A line.", figure)], {"cost": 2.0}, ["So it is."]), 1.0
    )
    kept = page.load_stored("some")
    assert kept["rows"] == rows and kept["captions"] == ["A line."] and kept["values"] == {"cost": 2.0}
    assert 0 < (tmp_path / "some.png").stat().st_size <= plots.MAX_IMAGE_BYTES
