"""The words of the generated web: topics, common words and forms of sentences."""

from dataclasses import dataclass
from functools import cache
from importlib.resources import files

FAMILY = 4  # topics in a family
TABLE = 2048  # entries of a word table; an entry is drawn with equal chance
NO_TOPIC = -1
# shares of a topic's word table; what is left goes to common words
_NAME, _OWN, _FAMILY = 0.05, 0.42, 0.10


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The words and phrases from which pages are written."""

    topics: tuple[str, ...]
    families: tuple[str, ...]  # of topic t: families[t // FAMILY]
    words: tuple[tuple[str, ...], ...]  # by topic, the commonest first
    phrases: dict[str, tuple[str, ...]]
    tables: tuple[tuple[str, ...], ...]  # by topic, then (also at NO_TOPIC, -1) common words

    @property
    def common(self) -> tuple[str, ...]:
        """The words that belong to no topic."""
        return self.phrases["common"]


@cache
def vocabulary() -> Vocabulary:
    """Read the word lists."""
    topics, families, words = _topics()
    phrases = _phrases()
    common = _spread(phrases["common"], TABLE, flatness=60)
    tables = [_table(i, topics, words, phrases["common"]) for i in range(len(topics))]
    return Vocabulary(topics, families, words, phrases, (*tables, common))


def _lines(name: str) -> list[str]:
    text = files(__package__).joinpath(name).read_text(encoding="utf-8")
    return [line.strip() for line in text.splitlines() if line.strip() and line[0] != "#"]


def _topics() -> tuple[tuple[str, ...], tuple[str, ...], tuple[tuple[str, ...], ...]]:
    lines = _lines("topics.txt")
    families = tuple(line.strip("[]") for line in lines if line.startswith("["))
    pairs = [line.split(": ") for line in lines if not line.startswith("[")]
    return (
        tuple(name for name, _ in pairs),
        families,
        tuple(tuple(words.split()) for _, words in pairs),
    )


def _phrases() -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    section: list[str] = []
    for line in _lines("phrases.txt"):
        if line.startswith("["):
            section = found.setdefault(line.strip("[]"), [])
        else:
            section.append(line)
    found["common"] = " ".join(found["common"]).split()
    return {name: tuple(lines) for name, lines in found.items()}


def _table(
    topic: int,
    topics: tuple[str, ...],
    words: tuple[tuple[str, ...], ...],
    common: tuple[str, ...],
) -> tuple[str, ...]:
    first = topic - topic % FAMILY
    siblings = [i for i in range(first, first + FAMILY) if i != topic]
    kin = [word for rank in range(30) for i in siblings for word in (words[i][rank],)]
    table = [topics[topic]] * round(_NAME * TABLE)
    table += _spread(words[topic], round(_OWN * TABLE), flatness=8)
    table += _spread(tuple(kin), round(_FAMILY * TABLE), flatness=60)
    table += _spread(common, TABLE - len(table), flatness=60)
    return tuple(table)


def _spread(words: tuple[str, ...], size: int, flatness: int) -> tuple[str, ...]:
    """`size` words in which the frequency of rank r is proportional to 1 / (r + flatness)."""
    weights = [1 / (rank + flatness) for rank in range(len(words))]
    total, passed = sum(weights), 0.0
    filled: list[str] = []
    for word, weight in zip(words, weights, strict=True):
        passed += weight
        filled += [word] * (round(size * passed / total) - len(filled))
    return tuple(filled)
