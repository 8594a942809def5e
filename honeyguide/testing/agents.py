"""What an agent promises."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

import numpy as np

from honeyguide.contracts import (
    Agent,
    Candidates,
    Encoder,
    Goal,
    Link,
    Page,
    Step,
    Trainable,
    Truth,
    Verdict,
    Visit,
)
from honeyguide.contracts import World as AnyWorld
from honeyguide.engine.navigator import Navigator
from honeyguide.testing import crawling
from honeyguide.testing.contract import (
    ODD_URLS,
    TOPIC,
    ContractError,
    PartLike,
    check_features_rows,
    check_same,
    check_written,
    default_encoder,
    make_part,
    name_of,
    promised,
    require,
    require_bool,
    require_dtype,
)
from honeyguide.testing.crawling import (
    Trace,
    check_goes_on,
    check_no_peeking,
    crawl,
    fail_everywhere,
    steer,
)
from honeyguide.testing.resume import through_a_file
from honeyguide.testing.tiny_webs import refuse_truth, start_of, word_web

PAGES = 60  # visited by the longest crawls
APART = 50  # visits before which a walk does not come back to a page
TRAINED = 20  # visits before a policy is taken
CLOSE = 1e-5  # between scores that are asked for alone and together
CHANCE = "Draw random numbers only from `rng`, never from random or numpy.random"
SAVING = f"{crawling.SAVING}, `rng` and the features' own state included"


def check_agent(
    agent: PartLike, *, encoder: Encoder | None = None, sees_truth: bool = False
) -> None:
    """Raise a ContractError unless an agent keeps its promises; `goal` and `rng` are filled in.

    - It is an Agent, with `features`, a `frontier` that exists, `max_waiting` and `foresees`.
    - `features` give one finite float32 row of their width a link (see `check_features`).
    - `score` gives one float32 number a link, finite or -inf, also for no links; the same
      whether links are asked for alone or together; it changes nothing it was given.
    - `explain`, if it answers, gives a finite number for each link and name; they add up to the
      score unless it says that they do not.
    - `learn` takes no, one or several steps, failed ones too, and changes nothing it was given.
    - `reward`, `follows`, `ends`, `stale`, `explores`, `stops` and `foreseen` answer with the
      types that they name.
    - The same random seed gives the same crawl, with one visit at a time and with many.
    - No page is fetched twice (a walk may come back after a while) and the budget is kept.
    - `state` can be written, `load` brings all of it back, and the crawl goes on as it was.
    - A policy, if it has one, can be written, and another agent can load it.
    - Failures and odd URLs break nothing.
    - What it does depends on pages visited alone: not on pages yet unseen, not on labels, and
      not on `goal.truth` unless it `sees_truth`.
    """
    trial = _Trial(agent, encoder or default_encoder(), sees_truth)
    _check_members(trial.agent(word_web(), 0))
    _check_scores(trial)
    first = trial.crawl(word_web(), saves=True)
    _check_visits(first, trial)
    _check_answers(trial, first)
    _check_seeds(trial, first)
    check_goes_on(trial.navigator(word_web(), seed=99), first, word_web(), "agent", SAVING)
    _check_policy(trial)
    with promised("failures and odd URLs must break nothing, but the agent raised an error"):
        _check_failures(trial)
    if not sees_truth:
        mend = "Score links by what was seen before: the link, its source page and steps learnt"
        check_no_peeking(trial.crawl, first, "agent", mend)


class _Trial:
    """An agent that can be made any number of times."""

    def __init__(self, part: PartLike, encoder: Encoder, sees_truth: bool) -> None:
        self.part = part
        self._encoder = encoder
        self._sees_truth = sees_truth

    def agent(self, world: AnyWorld, seed: int) -> Agent:
        truth: Callable[[], Truth] = world.truth if self._sees_truth else refuse_truth
        goal = Goal(TOPIC, self._encoder, truth)
        rng = np.random.default_rng(seed)
        made = make_part("agent", self.part, ("score", "learn"), goal=goal, rng=rng)
        require(
            isinstance(made, Agent),
            f"{name_of(self.part)} is not an Agent: derive it from honeyguide.contracts.Agent",
        )
        agent: Agent = made
        return agent

    def navigator(self, world: AnyWorld, seed: int = 0) -> Navigator:
        return steer(self.agent(world, seed), seed)

    def crawl(
        self, world: AnyWorld, budget: int = PAGES, in_flight: int = 1, saves: bool = False
    ) -> Trace:
        seeds = (start_of(word_web()),)
        return crawl(self.navigator(world), world, seeds, budget, in_flight, saves)


def _check_members(agent: Agent) -> None:
    require(
        hasattr(agent, "features"),
        "the agent has no features: set self.features in __init__, such as Discovery()",
    )
    width = getattr(agent.features, "width", None)
    require(
        isinstance(width, int) and width > 0,
        f"features.width is {width!r}: say how many numbers a link has, one or more",
    )
    require(
        isinstance(agent.frontier, str),
        f"frontier is {agent.frontier!r}: name a kind of frontier, such as 'best_first'",
    )
    with promised(f"no frontier can be made of {agent.frontier!r}"):
        steer(agent)
    most = agent.max_waiting
    require(
        most is None or (isinstance(most, int) and most > 0),
        f"max_waiting is {most!r}: a whole number above 0, or None for all",
    )
    require_bool(agent.foresees, "foresees")


# ------------------------------------------------------------------------ scores and learning


def _check_scores(trial: _Trial) -> None:
    world = word_web()
    navigator = trial.navigator(world)
    page = world.page("rocks-0")
    step = _first_step(navigator, page)
    agent, memory = navigator.agent, navigator.memory
    found = memory.link(step.id, page)
    links = Candidates(found.ids, agent.features(memory, found))
    check_features_rows(links.x, 3, agent.features)
    for count in (3, 0):
        _check_shape(agent, links[:count])
    _check_company(agent, links)
    for count in (3, 0):
        _check_reasons(agent, links[:count])
    _check_learning(agent, replace(step, options=links))


def _first_step(navigator: Navigator, page: Page) -> Step:
    """Visit a seed page, and say what is wrong with its features or scores if that fails."""
    memory, features = navigator.memory, navigator.agent.features
    seeds = [Link(page.url)]
    check_features_rows(features(memory, memory.seed(seeds)), 1, features)
    navigator.seed(seeds)
    link = navigator.choose(0.0)
    if link is None:
        raise ContractError("the agent took no link, though its seed waits: see its stops()")
    try:
        return navigator.absorb(Visit(link, page, Verdict(1.0, True)), 0.0)
    except Exception:
        found = memory.link(0, page)
        rows = features(memory, found)
        check_features_rows(rows, len(found.ids), features)
        _check_shape(navigator.agent, Candidates(found.ids, rows))
        raise


def _check_shape(agent: Agent, links: Candidates) -> None:
    before = links.x.copy(), links.ids.copy()
    scores = agent.score(links)
    count = len(links)
    require(
        np.shape(scores) == (count,),
        f"score() returned shape {np.shape(scores)} for {count} links:"
        f" return one float32 number for each link, shape ({count},)",
    )
    require_dtype(scores, "score()")
    require(
        np.all(scores < np.inf),
        "score() returned a number that is not a number (NaN) or is infinite:"
        " return finite numbers, or -inf to refuse a link",
    )
    require(_same(before, links), "score() changed the links it was given: work on a copy")


def _check_company(agent: Agent, links: Candidates) -> None:
    together = agent.score(links)
    rows = [slice(place, place + 1) for place in range(len(links))]
    alone = np.array([agent.score(links[row])[0] for row in rows])
    require(
        np.allclose(together, alone, rtol=CLOSE, atol=CLOSE),
        f"scores change when links are asked for together: {together.tolist()}, and alone"
        f" {alone.tolist()}. The score of a link may depend on its row and on what was learnt,"
        " not on the other links nor on how often it is asked for",
    )


def _check_reasons(agent: Agent, links: Candidates) -> None:
    before = links.x.copy(), links.ids.copy()
    reasons = agent.explain(links)
    if reasons is None:
        return
    shape = len(links), len(reasons.names)
    require(
        np.shape(reasons.parts) == shape and bool(np.all(np.isfinite(reasons.parts))),
        f"explain() returned parts of shape {np.shape(reasons.parts)}: return a finite number for"
        f" each link and name, shape {shape}",
    )
    require(
        len(set(reasons.names)) == len(reasons.names) > 0,
        f"explain() returned the names {reasons.names}: say each once, and at least one",
    )
    scores = agent.score(links)
    require(
        not reasons.adds_up or np.allclose(reasons.parts.sum(axis=1), scores, rtol=1e-3, atol=1e-3),
        f"the parts of explain() add up to {reasons.parts.sum(axis=1).tolist()}, but the scores are"
        f" {scores.tolist()}: add what is missing, or say adds_up=False",
    )
    require(_same(before, links), "explain() changed the links it was given: work on a copy")


def _check_learning(agent: Agent, step: Step) -> None:
    for count in range(3):
        fresh = replace(step, x=step.x * 0.5 + 0.25)  # the crawl has shown it the step itself
        failed = replace(fresh, x=fresh.x + 0.125, page=None, options=step.options[:0], reward=0.0)
        steps = [fresh, failed][:count]
        before = [(each.x.copy(), each.options.x.copy(), each.options.ids.copy()) for each in steps]
        with promised(f"learn() takes any number of steps, but raised an error for {len(steps)}"):
            agent.learn(steps)
        after = [(each.x, each.options.x, each.options.ids) for each in steps]
        same = all(
            np.array_equal(one, other, equal_nan=True)
            for old, new in zip(before, after, strict=True)
            for one, other in zip(old, new, strict=True)
        )
        require(same, "learn() changed what it was given: work on a copy of step.x and options")


def _same(before: tuple[Any, Any], links: Candidates) -> bool:
    return np.array_equal(before[0], links.x, equal_nan=True) and np.array_equal(
        before[1], links.ids
    )


def _check_answers(trial: _Trial, first: Trace) -> None:
    agent = trial.agent(word_web(), 0)
    visit = first.visits[0]
    reward = agent.reward(visit)
    require(
        isinstance(reward, float | int | np.number) and np.isfinite(reward),
        f"reward() returned {reward!r}: return a finite number",
    )
    if visit.page is not None:
        require_bool(agent.follows(visit.page), "follows()")
    require_bool(agent.ends(visit), "ends()")
    require_bool(agent.stale(), "stale()")
    require_bool(agent.explores(), "explores()")
    require_bool(agent.stops(0.0), "stops()")
    foreseen = agent.foreseen(first.steps[0].x, 0.5)
    require(
        foreseen is None or isinstance(foreseen, float | int | np.number),
        f"foreseen() returned {foreseen!r}: return a number, or None where scores are an order",
    )


# --------------------------------------------------------------------------------- crawls


def _check_visits(first: Trace, trial: _Trial) -> None:
    urls = first.urls
    require(
        len(urls) == PAGES,
        f"the crawl ended after {len(urls)} of {PAGES} pages with links left: check the agent with"
        " settings with which it neither stops() nor refuses so much, threshold=-1 for example",
    )
    walks = trial.agent(word_web(), 0).frontier.startswith("walks")
    apart = APART if walks else PAGES
    twice = [url for n, url in enumerate(urls) if url in urls[max(0, n - apart) : n]]
    require(not twice, f"{twice[:1]} was visited twice: choose a frontier that keeps what is seen")


def _check_seeds(trial: _Trial, first: Trace) -> None:
    promise = "the same random seed gave two different crawls"
    mend = f"{CHANCE}; use no clock, and keep nothing on the class or module"
    check_same(first.urls, trial.crawl(word_web()).urls, promise, mend)
    one, other = (trial.crawl(word_web(), in_flight=16).urls for _ in range(2))
    check_same(one, other, f"{promise} with 16 visits at once", mend)


def _check_policy(trial: _Trial) -> None:
    world = word_web()
    navigator = trial.navigator(world)
    agent = navigator.agent.learner
    if not isinstance(agent, Trainable):
        return
    crawl(navigator, world, (start_of(world),), TRAINED)
    policy = agent.policy()
    check_written(policy, "policy()")
    other = trial.agent(world, 1).learner
    with promised("load_policy() could not read what policy() gave, as it comes from a file"):
        cast(Trainable, other).load_policy(through_a_file(policy))


def _check_failures(trial: _Trial) -> None:
    world = word_web()
    tried = fail_everywhere(trial.navigator(world), world.page("rocks-0"))
    require(
        tried == 3,
        f"where every fetch fails, {tried} of 3 links were tried: failures must not make it stop",
    )
    odd = Page("http://a.example/", links=tuple(map(Link, ODD_URLS)))
    fail_everywhere(trial.navigator(world), odd)
