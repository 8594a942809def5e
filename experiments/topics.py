"""The six topics of Han et al. (2018) and Pertejo (2021), with tasks and agents for them."""

from typing import NamedTuple

from experiments.harness.experiment import Entry, Task

# GloVe with tf-idf weights as in Pertejo (2021); the cache spares repeated tasks the encoding
GLOVE = "glove:cache_megabytes=512"


class Topic(NamedTuple):
    """A topic with its seed page and the categories that count as related."""

    word: str
    seed: str
    categories: str
    step_size: float = 0.001


# pages of wikispeedia, which has no page "Cameras" and hardly uses the plural
TOPICS = (
    Topic("cancer", "Cancer", "disease+medicine+oncology+health"),
    Topic("fiction", "Fiction", "literature+arts", 0.0005),
    Topic("olympics", "Olympic_Games", "sports", 0.0005),
    Topic("camera", "Photography", "photography+movies+arts"),
    Topic("geology", "Geology", "earth+science"),
    Topic("poetry", "Poetry", "literature+arts"),
)
WIKISPEEDIA = "wikispeedia"
REASONS = "reasons"  # the part of han2018 that looks for them
# a sentence of both papers' reports
WHY = (
    "Part `reasons` of han2018 counts what can be counted: even weights fitted in hindsight, to "
    "where every link leads, gain less here than the papers' crawlers, so that the rows say little "
    "that the link's cosine does not, and no learning goes by that cosine already; the weights "
    "that SARSA learns find less than least squares on the same rows and rewards; random choices, "
    "buckets, gamma, the step and what is paid do not explain it alone; why the papers' crawlers "
    "gain so much more is not known."
)
LINEAR = ("linear_sync", "linear_async", "linear_moderated")
PAIRS = ",frontier=fresh_pairs"  # the papers' frontier; without it a link has one row, the newest


def keyword_task(topic: Topic, budget: int, web: str = WIKISPEEDIA) -> Task:
    """Return the task to find pages that contain a topic's word."""
    return Task(name=topic.word, web=web, topic=topic.word, seeds=(topic.seed,), budget=budget)


def han_entries(topic: Topic, encoder: str, frontier: str = PAIRS) -> list[Entry]:
    """List the four crawlers of Han et al. (2018) with their settings for a topic."""
    settings = f"categories={topic.categories},step_size={topic.step_size}{frontier}"
    names = {"best_first": "best_first"} | {name: f"{name}:{settings}" for name in LINEAR}
    return [
        Entry(name=name, agent=agent, encoder=encoder, cosine=True) for name, agent in names.items()
    ]


def pertejo_entry(agent: str, topic: Topic, more: str = PAIRS, name: str = "") -> Entry:
    """Return the linear crawler of Pertejo (2021) with its settings for a topic."""
    spec = f"{agent}:variant=pertejo2021,categories={topic.categories}{more}"
    return Entry(name=name or agent, agent=spec, encoder=GLOVE, cosine=True)
