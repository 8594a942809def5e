"""Best-first search by the similarity of a link's text to the topic; no learning."""

from collections.abc import Sequence

from honeyguide.contracts import Agent, Candidates, Goal, Reasons, State, Step, Vector
from honeyguide.features.link_text import CLOSE, LinkText, TopicSimilarity
from honeyguide.registry import part


@part("agent", "best_first")
class BestFirst(Agent):
    """Follows the link whose URL, anchor and surroundings are most like the topic; no learning."""

    def __init__(
        self,
        goal: Goal,
        host_words: bool | None = None,  # in the text of links; None: not in a web of one host
        join_mentions: bool = False,  # whether all mentions of a link on a page count, not one
    ) -> None:
        text = LinkText(host_words=host_words, join_mentions=join_mentions)
        self.features: TopicSimilarity = TopicSimilarity(goal.topic, goal.encoder, text=text)

    def score(self, links: Candidates) -> Vector:
        """The cosine to the topic."""
        return links.x[:, 0]

    def explain(self, links: Candidates) -> Reasons:
        """One reason: the cosine."""
        return Reasons((CLOSE,), links.x[:, :1])

    def weigh(self, words: Sequence[str]) -> Vector:
        """The cosine of each word to the topic."""
        return self.features.of_texts(words)

    def learn(self, steps: Sequence[Step]) -> None:
        """Do nothing: this agent does not learn."""

    def state(self) -> State:
        """The similarity of each link so far."""
        return self.features.state()

    def load(self, state: State) -> None:
        """Restore a saved state."""
        self.features.load(state)
