"""Pictures of suites."""

import pytest

from honeyguide.bench.plots import grid


@pytest.mark.parametrize(("tasks", "places"), [(1, 1), (2, 2), (3, 3), (4, 6)])
def test_pictures_fill_their_rows_and_pages_are_whole_numbers(tasks, places):
    def draw(axes, task):
        axes.plot([1, 2], [0, 1], label="guide")

    figure = grid([f"task {number}" for number in range(tasks)], draw, "task", "relevant pages")
    assert len(figure.axes) == places
    figure.canvas.draw()
    ticks = figure.axes[0].get_xticks()
    assert all(tick == round(tick) for tick in ticks)
