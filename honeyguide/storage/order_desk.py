"""Carry out the orders that reach a running crawl, each once, and record them in its journal."""

import logging
from dataclasses import replace
from functools import partial
from typing import Any

import msgspec

from honeyguide.contracts import Restrictable
from honeyguide.engine.loop import Crawl
from honeyguide.engine.orders import (
    Allow,
    AnyOrder,
    Budget,
    Delay,
    Deny,
    Forget,
    InFlight,
    Judge,
    Pause,
    Seed,
    Stop,
    Unpause,
    host_named,
    pack_order,
    read_order,
)
from honeyguide.errors import HoneyguideError
from honeyguide.guards.lists import check_pattern
from honeyguide.plan import Plan
from honeyguide.storage.crawl_log import tell
from honeyguide.storage.ends import VISITS_AT_ONCE
from honeyguide.storage.looking import answer_order
from honeyguide.storage.orders import ASK, Order, remove_order, waiting_orders
from honeyguide.storage.store import RecordingNavigator
from honeyguide.text.words import counted
from honeyguide.urls.patterns import UrlLists

TAUGHT = "taught"  # why a run ends that is given another judge; the crawl goes on with it
STOPPED = "stopped by order"  # why a run ends that a person has stopped
REFUSED = "refused: "  # begins the result of an order that was not carried out
_ORDER = "order"  # who has paused the crawl


class OrderDesk:
    """Carries out orders between two decisions of a crawl.

    The file of an order is removed once its event is committed. An order whose file is still there
    after a kill is carried out then, unless its event is in the journal.
    """

    def __init__(
        self,
        crawl: Crawl,
        recorded: RecordingNavigator,
        plan: Plan,
    ) -> None:
        self.plan = plan  # with the settings that orders have changed
        self._crawl = crawl
        self._recorded = recorded
        self._store = recorded.store
        self._lists = UrlLists(plan.allow, plan.deny, plan.host_globs)  # those of the plan
        self._standing = self._store.standing()

    @property
    def is_paused(self) -> bool:
        """Whether an order pauses the crawl."""
        return self._standing.is_paused

    def open(self) -> None:
        """Put what is in force into effect, and carry out the orders that wait, before a visit."""
        if self._standing.in_force():
            self._restrict()
        if self._standing.is_paused:
            self._crawl.pause(_ORDER)
        for order in waiting_orders(self._store.folder):
            if order.what["order"] == "stop":  # it has stopped
                remove_order(self._store.folder, order)
            else:
                self.take(order)

    def take(self, order: Order) -> None:
        """Carry out an order soon; called from any thread."""
        if order.what["order"] == "judge":  # it needs a crawl that stands still
            self._crawl.call(lambda crawl: crawl.finish(TAUGHT))
        elif order.what["order"] == ASK:
            self._crawl.between(partial(self._answer, order))
        else:
            self._crawl.between(partial(self._carry_out, order))

    def _carry_out(self, file: Order) -> None:
        if file.file not in self._standing.done:
            try:
                self._obey(file.file, self._checked(read_order(file.what)))
            except HoneyguideError as error:
                self._refuse(file.file, str(error))
        self._store.after_commit(partial(remove_order, self._store.folder, file))

    def _answer(self, order: Order) -> None:
        """Answer a question, which is no event."""
        folder = self._store.folder
        answer_order(folder, order, self._recorded.navigator, self._crawl.now)

    def _obey(self, file: str, order: AnyOrder) -> None:
        now, navigator = self._crawl.now(), self._recorded.navigator
        moved = navigator.obey(order, now)
        standing = self._standing.after(order, navigator.lists, self._lists)
        result = _result(order, moved)
        self._standing = standing.with_result(file, result)
        changed = _changed_settings(order)
        self._store.record_order(file, order, now, self._standing, changed)
        self.plan = replace(self.plan, **changed)
        self._apply(order)
        tell("order", result, order=pack_order(order).decode())

    def _refuse(self, file: str, why: str) -> None:
        self._standing = self._standing.with_result(file, f"{REFUSED}{why}")
        self._store.note_standing(self._standing)
        tell("order", f"{REFUSED}{why}", logging.WARNING, file=file)

    def _checked(self, order: AnyOrder) -> AnyOrder:
        """The order with URLs and hosts as the crawl spells them; a HoneyguideError if wrong."""
        if isinstance(order, Deny | Allow):
            for pattern in order.patterns:
                check_pattern(pattern)
        elif isinstance(order, Seed):
            return Seed(tuple(map(self._seed, order.urls)))
        elif isinstance(order, Delay | Forget):
            order = msgspec.structs.replace(order, host=host_named(order.host))
        elif isinstance(order, Pause | Unpause) and self.is_paused == isinstance(order, Pause):
            raise HoneyguideError(
                f"the crawl is {'paused already' if self.is_paused else 'not paused'}"
            )
        if isinstance(order, Delay) and not isinstance(self._crawl.world, Restrictable):
            raise HoneyguideError("a delay is for hosts of the live web")
        return order

    def _seed(self, name: str) -> str:
        url = self._crawl.world.find(name).url
        if reason := self._recorded.navigator.lists.refusal()(url):
            raise HoneyguideError(f"the seed {url} is never fetched: {reason}")
        return url

    def _apply(self, order: AnyOrder) -> None:
        """Put an order into effect outside the navigator."""
        crawl = self._crawl
        if isinstance(order, Pause):
            crawl.pause(_ORDER)
        elif isinstance(order, Unpause):
            crawl.unpause(_ORDER)
        elif isinstance(order, Stop):
            crawl.stop(STOPPED)
        elif isinstance(order, Budget):
            crawl.limits = replace(crawl.limits, pages=order.pages)
        elif isinstance(order, InFlight):
            crawl.in_flight = order.visits
            self._store.note(**{VISITS_AT_ONCE: order.visits})
        elif isinstance(order, Deny | Allow | Delay):
            self._restrict()

    def _restrict(self) -> None:
        lists = self._recorded.navigator.lists
        if isinstance(self._crawl.world, Restrictable):
            self._crawl.world.restrict(lists, self._standing.delays)
        self._crawl.refuse(lists.refusal())


def _changed_settings(order: AnyOrder) -> dict[str, Any]:
    """The settings of a plan that an order changes."""
    if isinstance(order, Budget):
        return {"budget": order.pages}
    return {"in_flight": order.visits} if isinstance(order, InFlight) else {}


def _result(order: AnyOrder, moved: int) -> str:
    """A sentence on what came of an order."""
    links = counted(moved, "waiting link")
    if isinstance(order, Deny):
        return f"denied: {', '.join(order.patterns)} ({links} withdrawn)"
    if isinstance(order, Allow):
        return f"allowed: {', '.join(order.patterns)} ({counted(moved, 'link')} waiting again)"
    if isinstance(order, Seed):
        known = f", {len(order.urls) - moved} visited before" if moved < len(order.urls) else ""
        return f"{counted(moved, 'seed')} added{known}"
    if isinstance(order, Forget):
        return f"forgotten: {order.host} ({links} dropped)"
    return _setting(order)


def _setting(order: AnyOrder) -> str:
    if isinstance(order, Budget):
        return f"the budget is {counted(order.pages, 'page')}"
    if isinstance(order, InFlight):
        return f"{counted(order.visits, 'visit')} at once"
    if isinstance(order, Delay):
        how_long = "the crawl's own" if order.seconds is None else f"{order.seconds:g} s"
        return f"delay of {order.host}: {how_long}"
    names = {Pause: "paused", Unpause: "unpaused", Stop: "stopped", Judge: "taught"}
    return names[type(order)]
