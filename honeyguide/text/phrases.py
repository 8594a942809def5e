"""Many names looked for in a text at once."""

from collections import Counter
from collections.abc import Iterable

from honeyguide.text.words import words


class Phrases:
    """Finds which of many phrases a text has, as whole words in order; signs between are ignored.

    Each phrase is listed under its rarest word, so that a text costs one look for each of its
    words, not one for each phrase.
    """

    def __init__(self, phrases: Iterable[str]) -> None:
        spelled = {phrase: words(phrase) for phrase in phrases}
        frequency = Counter(word for found in spelled.values() for word in set(found))
        self._listed: dict[str, list[tuple[str, str]]] = {}  # word -> (as looked for, phrase)
        for phrase, found in spelled.items():
            if found:
                rarest = min(found, key=lambda word: (frequency[word], -len(word), word))
                self._listed.setdefault(rarest, []).append((_joined(found), phrase))

    def __bool__(self) -> bool:
        return bool(self._listed)

    def first(self, text: str) -> str:
        """The phrase that a text has earliest, of those the longest; empty if it has none."""
        found = words(text)
        listed = self._listed.keys() & set(found)
        if not listed:
            return ""
        whole = _joined(found)
        places = [
            (place, -len(sought), phrase)
            for word in listed
            for sought, phrase in self._listed[word]
            if (place := whole.find(sought)) >= 0
        ]
        return min(places)[2] if places else ""


def _joined(found: list[str]) -> str:
    """Words with a space on either side of each."""
    return f" {' '.join(found)} "
