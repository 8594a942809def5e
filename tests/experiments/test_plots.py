"""Plots of experiments."""

from itertools import pairwise

import pytest

from experiments.harness.plots import grid


@pytest.mark.parametrize(("tasks", "places"), [(1, 1), (2, 2), (3, 3), (4, 6)])
def test_pictures_fill_their_rows_and_pages_are_whole_numbers(tasks, places):
    def draw(axes, task):
        axes.plot([1, 2], [0, 1], label="guide")

    figure = grid([f"task {number}" for number in range(tasks)], draw, "task", "relevant pages")
    assert len(figure.axes) == places
    figure.canvas.draw()
    ticks = figure.axes[0].get_xticks()
    assert all(tick == round(tick) for tick in ticks)


def test_large_numbers_under_an_axis_do_not_run_into_each_other():
    def draw(axes, task):
        axes.plot([0, 200_000], [0.0, 1500.0], label="guide")

    figure = grid(["a", "b", "c"], draw, "pages fetched", "relevant pages")
    figure.canvas.draw()
    shown = [label.get_window_extent() for label in figure.axes[0].get_xticklabels()]
    assert len(shown) > 3
    assert all(one.x1 < next_one.x0 for one, next_one in pairwise(shown))
    assert figure.axes[0].get_yticklabels()[-1].get_text() == "1,600"
