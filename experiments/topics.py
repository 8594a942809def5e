"""The six topics of documents 001 and 000, with their categories, for webs that have them."""

from typing import NamedTuple

from experiments.harness.experiment import Entry, Task

# GloVe with tf-idf weights as in document 000; repeated tasks need not split texts anew
GLOVE = "glove:cache_megabytes=512"


class Topic(NamedTuple):
    """A topic, where a crawl for it starts, and what the designer says is related."""

    word: str
    seed: str
    categories: str
    step_size: float = 0.001


# on wikispeedia; it has no page Cameras, and hardly the word in the plural
TOPICS = (
    Topic("cancer", "Cancer", "disease+medicine+oncology+health"),
    Topic("fiction", "Fiction", "literature+arts", 0.0005),
    Topic("olympics", "Olympic_Games", "sports", 0.0005),
    Topic("camera", "Photography", "photography+movies+arts"),
    Topic("geology", "Geology", "earth+science"),
    Topic("poetry", "Poetry", "literature+arts"),
)
WIKISPEEDIA = "wikispeedia"
# said in the reports of both documents
WHY_NOT = (
    "Where learning finds no more than no learning, two reasons can be measured. The rewards say "
    "little: with GloVe 5 % (geology) to 34 % (poetry) of wikispeedia's pages without the topic's "
    "word have a cosine above 0.4, and so are paid for like relevant ones (`experiments/cosines.py`"
    "). And no learning is strong: the text around a link often has the topic's word in it; "
    "`best_first` goes by that cosine as it is, the linear agents by its bucket, and one choice in "
    "ten of theirs is random."
)
LINEAR = ("linear_sync", "linear_async", "linear_moderated")


def keyword_task(topic: Topic, budget: int, web: str = WIKISPEEDIA) -> Task:
    """Find the pages that contain a topic's word."""
    return Task(name=topic.word, web=web, topic=topic.word, seeds=(topic.seed,), budget=budget)


def han_entries(topic: Topic, encoder: str) -> list[Entry]:
    """Document 001's four crawlers with its settings for a topic."""
    settings = f"categories={topic.categories},step_size={topic.step_size}"
    names = {"best_first": "best_first"} | {name: f"{name}:{settings}" for name in LINEAR}
    return [
        Entry(name=name, agent=agent, encoder=encoder, cosine=True) for name, agent in names.items()
    ]


def pertejo_entry(agent: str, topic: Topic, more: str = "", name: str = "") -> Entry:
    """Document 000's linear crawler with its settings for a topic."""
    spec = f"{agent}:variant=pertejo2021,categories={topic.categories}{more}"
    return Entry(name=name or agent, agent=spec, encoder=GLOVE, cosine=True)
