"""Trials of settings that Friar (2017, §3.4 and §3.6) names without figures, and figure 3.3."""

from typing import Any

from matplotlib.figure import Figure

from experiments.harness.experiment import Entry
from experiments.harness.report_page import Page
from experiments.harness.results import Results

PART = "trials"
LINEAR, NETWORK, ACTORS = "linear", "CNN", "asynchronous, 4 actors"
# what the paper says of each, in words
SAID = {
    "linear, gamma 0.5": "worse",
    "linear, gamma 0.95": "worse",
    "linear, rate 0.5": "worse",
    "linear, rate 0.01": "worse",
    "linear, rate 0.0005": "worse",
    "linear, RMSProp": "slightly worse",
    "linear, epsilon stays 0.1": "slightly worse",
    "CNN, second layer of 16": "no better",
    "CNN, weights of variance 1/D": "used",
    "asynchronous, 10 actors": "used",
}


def trial_entries(steps: int) -> list[Entry]:
    """List the entries; all explore over the first half of the steps."""
    fading = f"epsilon_steps={steps // 2}"
    settings = {
        "random_walk": "random_walk",
        LINEAR: f"url_linear_q:{fading}",
        "linear, gamma 0.5": f"url_linear_q:{fading},gamma=0.5",
        "linear, gamma 0.95": f"url_linear_q:{fading},gamma=0.95",
        "linear, rate 0.5": f"url_linear_q:{fading},step_size=0.5",
        "linear, rate 0.01": f"url_linear_q:{fading},step_size=0.01",
        "linear, rate 0.0005": f"url_linear_q:{fading},step_size=0.0005",
        "linear, RMSProp": f"url_linear_q:{fading},optimiser=rmsprop",
        "linear, epsilon stays 0.1": f"url_linear_q:{fading},last_epsilon=0.1",
        NETWORK: f"url_cnn_dqn:{fading}",
        "CNN, second layer of 16": f"url_cnn_dqn:{fading},hidden=16",
        "CNN, weights of variance 1/D": f"url_cnn_dqn:{fading},weights=inputs",
        ACTORS: f"url_async_dqn:{fading},actors=4",
        "asynchronous, 10 actors": f"url_async_dqn:{fading},actors=10",
    }
    return [Entry(name=name, agent=spec) for name, spec in settings.items()]


def trials_table(results: Results, page: Page) -> dict[str, Any]:
    """Write the table of trials and draw figure 3.3."""
    headline: dict[str, Any] = {}
    for task in results.tasks(PART):
        names = results.entries(PART, task)
        page.heading("Settings tried by Friar (sections 3.4, 3.6 and 3.8), and figure 3.3")
        page.text(
            f"Unique rewards on 100,000 pages after 5,000 steps (targets: {task}), **one run "
            "each**. The paper says in words, without figures, which settings were worse. One run "
            "tells large differences only: two runs of one agent in the table of components below "
            "differ by up to a quarter, and after so few steps linear learning is not ahead of the "
            "random walk."
        )
        page.table(
            ["", "paper", "unique rewards", "against its default", "all actors"],
            [_row(results, task, name) for name in names],
        )
        for run in results.runs(PART, task, LINEAR)[:1]:
            if "weights" in run:
                drawn = weights_plot(run["weights"])
                page.figure("weights.png", "figure 3.3: the 20 words of largest weight", drawn)
        headline |= {
            f"{name} / default": results.ratio(PART, task, name, default_of(name))
            for name in names
            if name in SAID
        }
    return headline


def default_of(name: str) -> str:
    """The entry that an entry is a variant of."""
    return next((each for each in (LINEAR, NETWORK) if name.startswith(each)), ACTORS)


def _row(results: Results, task: str, name: str) -> list[object]:
    change = results.ratio(PART, task, name, default_of(name)) - 1
    return [
        name,
        SAID.get(name, "–"),
        results.mean(PART, task, name),
        f"{change:+.0%}" if name in SAID else "–",
        results.mean(PART, task, name, "all_actors"),
    ]


def weights_plot(weights: dict[str, float]) -> Figure:
    """Draw the words of the largest weights, by magnitude (figure 3.3)."""
    top = sorted(weights.items(), key=lambda pair: pair[1])
    figure = Figure(figsize=(7, 4.6), layout="constrained")
    axes = figure.add_subplot()
    axes.barh([word for word, _ in top], [weight for _, weight in top], color="C0")
    axes.axvline(0, color="black", linewidth=0.8)
    axes.set_xlabel("weight", fontsize=9)
    axes.tick_params(labelsize=9)
    axes.grid(axis="x", alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    return figure
