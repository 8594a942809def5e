"""A part that breaks a promise is told which, and what to mend."""

import random
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from honeyguide.contracts import UNASKED, Agent, Cut, Page, Verdict, Visit
from honeyguide.encoders.ngrams import NgramEncoder
from honeyguide.errors import HoneyguideError
from honeyguide.features.discovery import Discovery
from honeyguide.frontiers.best_first import BestFirst
from honeyguide.gates.none import NoGate
from honeyguide.guards.none import NoGuard
from honeyguide.testing import (
    ContractError,
    check_agent,
    check_encoder,
    check_features,
    check_frontier,
    check_gate,
    check_guard,
    check_judge,
    check_world,
)
from honeyguide.testing.tiny_webs import TinyWeb, word_web

# ------------------------------------------------------------------------------------ agents


class Sound(Agent):
    """Prefers links of hosts that brought something."""

    def __init__(self):
        self.features = Discovery()
        self.total = 0.0

    def score(self, links):
        return np.cos(links.x[:, 0] + np.float32(self.total))

    def learn(self, steps):
        self.total += sum(step.reward for step in steps)

    def stale(self):
        return True

    def state(self):
        return {"total": self.total}

    def load(self, state):
        self.total = state["total"]


class Column(Sound):
    def score(self, links):
        return links.x


class Double(Sound):
    def score(self, links):
        return links.x[:, 0].astype(float)


class NotANumber(Sound):
    def score(self, links):
        return np.full(len(links), np.nan, np.float32)


class Ranking(Sound):
    def score(self, links):
        return np.arange(len(links), dtype=np.float32)


class Lucky(Sound):
    def explores(self):
        return random.random() < 0.5


class Forgetful(Sound):
    def load(self, state):
        self.total = 0.0


class Silent(Sound):
    def state(self):
        return {}

    def load(self, state):
        pass


class KeepsASet(Sound):
    def state(self):
        return {"total": self.total, "seen": {1, 2}}


class Overwriting(Sound):
    def learn(self, steps):
        for step in steps:
            step.options.x[:] = 0


class OverwritingRows(Sound):
    def learn(self, steps):
        for step in steps:
            step.x[:] = 5


class OneAtATime(Sound):
    def learn(self, steps):
        [_] = steps


class NeedsPages(Sound):
    def reward(self, visit):
        return float(len(visit.page.text))


class ReadsLabels(Sound):
    def reward(self, visit):
        return float(len(visit.page.labels)) if visit.page else 0.0


class Seer(Sound):
    def __init__(self, goal):
        super().__init__()
        self.truth = goal.truth()


class Clairvoyant(Sound):
    """Knows the pages by heart."""

    def score(self, links):
        return -np.abs(links.x[:, 0] - Clairvoyant.web_size)

    web_size = 0.0

    def learn(self, steps):
        Clairvoyant.web_size += 1.0


class Featureless(Sound):
    def __init__(self):
        pass


class Yielding(Sound):
    def stale(self):
        return None


class Greedy(Sound):
    def __init__(self, appetite):
        super().__init__()


class Unlearning(Agent):
    def score(self, links):
        return links.x[:, 0]


BROKEN_AGENTS = [
    (Column, r"score\(\) returned shape \(3, 1\) for 3 links: return one float32 number for each"),
    (Double, r"score\(\) returned float64: return float32"),
    (NotANumber, r"not a number .* finite numbers, or -inf to refuse"),
    (Ranking, "scores change when links are asked for together"),
    (Lucky, "the same random seed gave two different crawls.*only from `rng`, never from random"),
    (Forgetful, r"it does not load what it saved: state\['total'\]"),
    (Silent, "after a save and a load, the crawl went on differently: visit 2"),
    (KeepsASet, r"state\(\) cannot be written: state\['seen'\] is a set; use numbers, texts"),
    (Overwriting, r"learn\(\) changed what it was given"),
    (OverwritingRows, r"learn\(\) changed what it was given"),
    (OneAtATime, r"learn\(\) takes any number of steps, but raised an error for 0"),
    (NeedsPages, "failures and odd URLs must break nothing.*AttributeError"),
    (ReadsLabels, "page.labels, the ground truth that only judges may see"),
    (Seer, "it asked for goal.truth: only upper benchmarks may"),
    (Clairvoyant, "two different crawls.*keep nothing on the class"),
    (Featureless, "the agent has no features: set self.features in __init__"),
    (Yielding, r"stale\(\) returned None: return True or False"),
    (Greedy, "Greedy cannot be made: missing a required argument: 'appetite'.*goal, rng by name"),
    (Unlearning, "Unlearning cannot be made: TypeError: .*abstract .*learn"),
    (NoGuard, "NoGuard has no score and no learn: the contract of an agent asks for them"),
]


class Refusing(Sound):
    """Refuses some links for good."""

    def score(self, links):
        return np.where(links.x[:, 0] % 17 == 16, -np.inf, super().score(links)).astype(np.float32)


class Quitting(Sound):
    def stops(self, best_score):
        return self.total > 3


@pytest.mark.parametrize("part", [Sound, Refusing])
def test_a_sound_agent_passes(part, encoder):
    check_agent(part, encoder=encoder)


def test_an_agent_that_ends_its_crawl_early_is_to_be_checked_with_other_settings(encoder):
    with pytest.raises(ContractError, match=r"ended after \d+ of 60 pages .* threshold=-1"):
        check_agent(Quitting, encoder=encoder)


@pytest.mark.parametrize(("part", "said"), BROKEN_AGENTS)
def test_a_broken_agent_is_told_what_to_mend(part, said, encoder):
    with pytest.raises(ContractError, match=said):
        check_agent(part, encoder=encoder)


def test_an_agent_that_knows_of_pages_not_visited_is_told(encoder, monkeypatch):
    from honeyguide.testing import crawling

    noise = []  # what the web has beyond the pages visited

    class Showing(crawling.Noisy):
        def __init__(self, world, honest):
            super().__init__(world, honest)
            noise.append("qwerty")

    class Peeking(Sound):
        def score(self, links):
            return super().score(links) * np.float32(1 - 2 * len(noise))

    monkeypatch.setattr(crawling, "Noisy", Showing)
    said = "looked at a page that had not been visited: visit 2 .*Score links by what was seen"
    with pytest.raises(ContractError, match=said):
        check_agent(Peeking, encoder=encoder)


def test_settings_and_factories_are_taken(encoder):
    check_agent(lambda goal: Sound(), encoder=encoder)
    check_agent("breadth_first", encoder=encoder)
    with pytest.raises(HoneyguideError, match="did you mean 'best_first'"):
        check_agent("bestfirst", encoder=encoder)


def test_a_part_that_is_made_already_is_refused(encoder):
    class Judge:
        def __call__(self, page):
            return Verdict(0.0, False)

    with pytest.raises(ContractError, match="pass a class or a function, not a part that is made"):
        check_judge(Judge(), encoder=encoder)


# ---------------------------------------------------------------------------------- features


class Lengths:
    """The length of an address."""

    width = 1

    def __call__(self, memory, found):
        return np.array([[len(link.url)] for link in found.links], np.float32).reshape(-1, 1)


class Flat(Lengths):
    def __call__(self, memory, found):
        return super().__call__(memory, found)[:, 0]


class Wide(Lengths):
    def __call__(self, memory, found):
        return super().__call__(memory, found).astype(float)


class NoEmpty(Lengths):
    def __call__(self, memory, found):
        return np.array([[len(link.url)] for link in found.links], np.float32)


class Infinite(Lengths):
    def __call__(self, memory, found):
        return super().__call__(memory, found) * np.inf


class Moody(Lengths):
    def __call__(self, memory, found):
        return super().__call__(memory, found) + np.float32(random.random())


class Counting(Lengths):
    """Counts pages, and saves nothing."""

    def __init__(self):
        self.pages = set()

    def __call__(self, memory, found):
        self.pages.add(found.source)
        return super().__call__(memory, found) + len(self.pages) // 5


class Hoarding(Lengths):
    """Keeps all addresses."""

    def __init__(self):
        self.kept = []

    def __call__(self, memory, found):
        self.kept += [link.url for link in found.links]
        return super().__call__(memory, found)

    def state(self):
        return {"kept": self.kept}

    def load(self, state):
        self.kept = state["kept"]


class Cheating(Lengths):
    def __call__(self, memory, found):
        labels = len(found.page.labels) if found.page else 0
        return super().__call__(memory, found) + labels


class NoWidth(Lengths):
    width = 0


class Losing(Hoarding):
    """Loads nothing."""

    def __call__(self, memory, found):
        return super().__call__(memory, found) + min(len(self.kept), 9)

    def load(self, state):
        pass


class Unmeasured(Hoarding):
    """Says another size after a load."""

    extra = 8

    @property
    def nbytes(self):
        return self.extra

    def load(self, state):
        super().load(state)
        self.extra = 0


BROKEN_FEATURES = [
    (Flat, r"features returned shape \(1,\) for 1 of them: return one row of 1 numbers for each"),
    (Wide, "features returned float64: return float32"),
    (NoEmpty, r"features returned shape \(0,\) for 0 of them: .* shape \(0, 1\)"),
    (Infinite, "infinite or not a number"),
    (Moody, "asked for the same links again, features said something else"),
    (Counting, r"keep something from page to page and have no state\(\)"),
    (Hoarding, "keep something that grows .* give them a property nbytes"),
    (Cheating, "features depend on page.labels"),
    (NoWidth, "features.width is 0"),
    (Losing, "after a save and a load, features say something else"),
    (Unmeasured, "features measure 8 bytes, and 0 after a save"),
]


def test_sound_features_pass(encoder):
    check_features(Lengths, encoder=encoder)


@pytest.mark.parametrize(("part", "said"), BROKEN_FEATURES)
def test_broken_features_are_told_what_to_mend(part, said, encoder):
    with pytest.raises(ContractError, match=said):
        check_features(part, encoder=encoder)


# ------------------------------------------------------------------------------------ judges


def judge(answer):
    """A judge of a function; one that is made anew each time."""
    return partial(_Answering, answer)


class _Answering:
    def __init__(self, answer):
        self.answer = answer
        self.pages = 0

    def __call__(self, page):
        self.pages += 1
        return self.answer(self, page)


BROKEN_JUDGES = [
    (lambda self, page: 0.5, r"the judge returned 0.5: return a Verdict"),
    (lambda self, page: Verdict(1.5, True), "relevance is 1.5 at the page .*from 0 to 1"),
    (lambda self, page: Verdict(np.nan, True), "relevance is nan"),
    (lambda self, page: Verdict(1.0, np.bool_(True)), r"a bool.*: make it True or False, as with"),
    (lambda self, page: Verdict(1.0, True, "long"), "reasons are 'long': give a tuple of texts"),
    (
        lambda self, page: Verdict(0.0, self.pages > 3),
        "in another order. A judge must keep nothing",
    ),
    (lambda self, page: Verdict(random.random(), True), "use neither chance nor a clock"),
    (lambda self, page: Verdict(1 / len(page.text), True), "every page gets .*ZeroDivisionError"),
    (
        lambda self, page: Verdict(len(page.text.encode()) % 2, True),
        "the judge raised an error at .*UnicodeEncodeError",
    ),
]


@pytest.mark.parametrize(("answer", "said"), BROKEN_JUDGES)
def test_a_broken_judge_is_told_what_to_mend(answer, said, encoder):
    with pytest.raises(ContractError, match=said):
        check_judge(judge(answer), encoder=encoder)


def test_what_a_judge_should_find_is_checked_where_it_is_given(encoder):
    good, bad = Page("http://a.example/", text="rocks"), Page("http://b.example/", text="ships")
    sound = judge(lambda self, page: Verdict(float("rocks" in page.text), "rocks" in page.text))
    check_judge(sound, encoder=encoder, relevant=good, irrelevant=bad)
    with pytest.raises(ContractError, match="the relevant page was found irrelevant"):
        check_judge(sound, encoder=encoder, relevant=bad)
    with pytest.raises(ContractError, match="the irrelevant page was found relevant"):
        check_judge(sound, encoder=encoder, irrelevant=good)
    flat = judge(lambda self, page: Verdict(0.5, "rocks" in page.text))
    with pytest.raises(ContractError, match="the more relevant a page, the more relevance"):
        check_judge(flat, encoder=encoder, relevant=good, irrelevant=bad)


# ---------------------------------------------------------------------------------- encoders


class Long(NgramEncoder):
    def __call__(self, texts):
        return super().__call__(texts) * np.float32(2)


class Companion(NgramEncoder):
    def __call__(self, texts):
        rows = super().__call__(texts)
        return np.roll(rows, 1, axis=0) if len(rows) == 7 else rows


class KnowsAll(NgramEncoder):
    def knows(self, text):
        return False


class Strict(NgramEncoder):
    def __call__(self, texts):
        return super().__call__([text.encode().decode() for text in texts])


class Never(NgramEncoder):
    def __call__(self, texts):
        return super().__call__(texts or [""])


class Chance(NgramEncoder):
    def __init__(self):
        super().__init__()
        self.shift = random.randrange(1, self.width)

    def __call__(self, texts):
        return np.roll(super().__call__(texts), self.shift, axis=1)


class Observant(NgramEncoder):
    """Turns every row by the number of pages seen."""

    pages = 0

    def __call__(self, texts):
        return np.roll(super().__call__(texts), self.pages, axis=1)

    def observe(self, text):
        self.pages += 1

    def forget(self):
        self.pages = 0

    def state(self):
        return {"pages": self.pages}

    def load(self, state):
        self.pages = state["pages"]


class Unforgetting(Observant):
    def forget(self):
        pass


class Unsaving(Observant):
    def state(self):
        return {"pages": 0}


BROKEN_ENCODERS = [
    (Long, "has length 2: divide rows by their length"),
    (KnowsAll, "says no, but its row is not zero"),
    (Strict, "any text gets a row, but the encoder raised an error: UnicodeEncodeError"),
    (Never, r"returned shape \(1, \d+\) for 0 of them"),
    (Companion, "the row of '' changes with the texts beside it"),
    (Unforgetting, r"after forget\(\), rows are not as before any page"),
    (Unsaving, "after a save and a load, rows differ"),
    (Chance, "an encoder made anew gave other rows"),
]


def test_a_sound_encoder_that_weighs_words_by_pages_passes():
    check_encoder(Observant)


@pytest.mark.parametrize(("part", "said"), BROKEN_ENCODERS)
def test_a_broken_encoder_is_told_what_to_mend(part, said):
    with pytest.raises(ContractError, match=said):
        check_encoder(part)


def test_texts_that_should_lie_near_are_checked_where_they_are_given():
    with pytest.raises(ContractError, match="should lie nearer to 'rock' than 'rocks'"):
        check_encoder(NgramEncoder, near=("rock", "stone", "rocks"))


# ------------------------------------------------------------------------------------ worlds


class Words(TinyWeb):
    """The web of words, judged."""

    def __init__(self, judge):
        web = word_web()
        super().__init__(web.links, web.relevant, None, web.hosts, web.words)
        self.judge = judge
        self.visits = 0

    async def visit(self, link):
        visit = await super().visit(link)
        self.visits += 1
        return visit if visit.page is None else replace(visit, verdict=self.judge(visit.page))

    def truth(self):
        raise HoneyguideError("the truth is not known")


class Raising(Words):
    async def visit(self, link):
        if "nowhere" in link.url:
            raise OSError("no such host")
        return await super().visit(link)


class Ageing(Words):
    async def visit(self, link):
        visit = await super().visit(link)
        page = replace(visit.page, text=str(self.visits)) if visit.page else None
        return replace(visit, page=page)


class OwnMind(Words):
    async def visit(self, link):
        return replace(await super().visit(link), verdict=Verdict(0.7, True))


class Relative(Words):
    def page(self, name):
        from honeyguide.contracts import Link

        return replace(super().page(name), links=(Link("more.html"),))


class Finder(Words):
    def find(self, name):
        return super().find(name if name in self.links else "rocks-0")


class Liar(Words):
    def truth(self):
        truth = TinyWeb.truth(self)
        return replace(truth, relevant=~truth.relevant)


class Both(Words):
    async def visit(self, link):
        return replace(await super().visit(link), failure="timeout")


BROKEN_WORLDS = [
    (Raising, r"a failed fetch is a visit too, but visit\(\) raised an error: OSError"),
    (Ageing, "showed something else the second time"),
    (OwnMind, "ask the judge that a crawl hands in"),
    (Relative, "is not absolute: join it with the page's address"),
    (Finder, r"find\(\) gave .* for an unknown name: raise a HoneyguideError"),
    (Liar, "let the judge decide both"),
    (Both, "give a page, or say why there is none"),
]


def by_word(page):
    return Verdict(0.5, page.title.split("-")[0] in ("rocks", "minerals", "geology"))


def test_a_sound_world_passes():
    check_world(Words, "rocks-0", judge=by_word)


@pytest.mark.parametrize(("part", "said"), BROKEN_WORLDS)
def test_a_broken_world_is_told_what_to_mend(part, said):
    with pytest.raises(ContractError, match=said):
        check_world(part, "rocks-0", judge=by_word)


# --------------------------------------------------------------------------------- frontiers


class Hasty(BestFirst):
    def release(self, id, now, delay=None):
        super().release(id, now, UNASKED)


class Tired(BestFirst):
    def release(self, id, now, delay=None):
        super().release(id, now, None if delay == UNASKED else delay)


class Sticky(BestFirst):
    def drop(self, ids):
        pass


class Unrepeatable(BestFirst):
    def load(self, state):
        rng = self.rng.bit_generator.state
        super().load(state)
        self.rng.bit_generator.state = rng


class Inviting(BestFirst):
    def put(self, ids, hosts, x, scores):
        super().put(ids, hosts, x, np.maximum(scores, np.float32(-9)))


class Stubborn(BestFirst):
    def rescore(self, score):
        pass


class Sleepy(BestFirst):
    def wake(self, now):
        return super().wake(now) or 1e9


BROKEN_FRONTIERS = [
    (Hasty, "a host was asked again before its `delay` had passed"),
    (Tired, "released as UNASKED, so it needs no rest"),
    (Sticky, "gave a link that was dropped"),
    (Unrepeatable, r"it does not load what it saved: state\['rng'\]"),
    (Inviting, "put in with score -inf: it is refused"),
    (Stubborn, r"rescore\(\) did not change scores"),
    (Sleepy, r"wake\(\) names a time when nothing waits"),
]


@pytest.mark.parametrize(("part", "said"), BROKEN_FRONTIERS)
def test_a_broken_frontier_is_told_what_to_mend(part, said):
    with pytest.raises(ContractError, match=said):
        check_frontier(part)


# ------------------------------------------------------------------------------------ guards


class Numbers(NoGuard):
    def admit(self, memory, found):
        return np.ones(len(found.links))


class NeedsResponse(NoGuard):
    """Lets a host alone whose last answer was an error."""

    wary = False

    def note(self, memory, id, visit):
        self.wary = visit.response is not None and visit.response.status > 400
        return visit

    def admit(self, memory, found):
        return np.full(len(found.links), not self.wary)


class Hidden(NoGuard):
    """Counts visits and does not save the count."""

    visits = 0

    def note(self, memory, id, visit):
        self.visits += 1
        return visit

    def admit(self, memory, found):
        return np.full(len(found.links), self.visits % 7 > 0)


class Vague(NoGuard):
    def report(self):
        return [Cut("trap", 0, "")]


class Mute(NoGuard):
    def note(self, memory, id, visit):
        return None


class Wavering(NoGuard):
    def admit(self, memory, found):
        return np.array([random.random() < 0.9 for _ in found.links], np.bool_)


class Delicate(NoGuard):
    def note(self, memory, id, visit):
        return Visit(visit.link, visit.page, Verdict(len(visit.page.text) / 1e6, False))


BROKEN_GUARDS = [
    (Numbers, r"admit\(\) returned an array of float64 .*return a bool array"),
    (NeedsResponse, "decisions depend on visit.response.*A resumed crawl has no responses"),
    (Hidden, "after a save and a load, the crawl went on differently"),
    (Vague, r"report\(\) returned .*return a list of Cut"),
    (Mute, r"note\(\) returned None: return the visit"),
    (Wavering, "the same crawl went differently.*neither chance nor a clock"),
    (Delicate, "failures and odd URLs must break nothing"),
]


@pytest.mark.parametrize(("part", "said"), BROKEN_GUARDS)
def test_a_broken_guard_is_told_what_to_mend(part, said):
    with pytest.raises(ContractError, match=said):
        check_guard(part)


# ------------------------------------------------------------------------------------- gates


class Vacant(NoGate):
    def opens(self, memory, id, link, foreseen):
        return None


class NeedsForesight(NoGate):
    def opens(self, memory, id, link, foreseen):
        return foreseen > 0.5


class Column2(NoGate):
    def worths(self, memory, ids):
        return np.zeros((len(ids), 1), np.float32)


class Pages(NoGate):
    def note(self, memory, id, visit):
        return [id]


class Dice(NoGate):
    def opens(self, memory, id, link, foreseen):
        return random.random() < 0.5


class Counter(NoGate):
    """Skips every third link, and does not save the count."""

    asked = 0

    def opens(self, memory, id, link, foreseen):
        self.asked += 1
        return self.asked % 3 > 0


class Rows(NoGate):
    def policy(self):
        return [{"weights": [1, 2]}]


BROKEN_GATES = [
    (Vacant, r"opens\(\) returned None: return True or False"),
    (NeedsForesight, "failures and odd URLs must break nothing.*TypeError"),
    (Column2, r"worths\(\) returned shape \(3, 1\) for 3 links"),
    (Pages, r"note\(\) returned \[0\]: return an array of page numbers"),
    (Dice, "the same crawl went differently the second time"),
    (Counter, "after a save and a load, the crawl went on differently"),
    (Rows, r"policy\(\) returned .*return a list of"),
]


@pytest.mark.parametrize(("part", "said"), BROKEN_GATES)
def test_a_broken_gate_is_told_what_to_mend(part, said, encoder):
    with pytest.raises(ContractError, match=said):
        check_gate(part, encoder=encoder)


def test_the_names_of_checks_are_offered():
    from honeyguide import testing

    checks = [getattr(testing, name) for name in testing.__all__ if name.startswith("check_")]
    assert len(checks) == 9
    assert all(isinstance(check, Callable) and check.__doc__ for check in checks)
