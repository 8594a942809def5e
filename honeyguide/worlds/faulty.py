"""Any world with bad days: some of its pages fail, some are slow, some are gone."""

import asyncio
from dataclasses import replace
from hashlib import blake2b

from honeyguide.contracts import Link, Truth, Verdict, Visit, World
from honeyguide.errors import HoneyguideError


class FaultyWorld:
    """Breaks the same visits every time: which ones, the seed and the URL decide."""

    def __init__(
        self,
        world: World,
        seed: int = 1,
        failing: float = 0.05,  # share of pages that answer with a server error
        vanished: float = 0.02,  # share of pages that are not found
        slow: float = 0.05,  # share of the other pages that take `seconds` longer
        seconds: float = 5.0,
    ) -> None:
        if min(failing, vanished, slow, seconds) < 0 or failing + vanished > 1 or slow > 1:
            raise HoneyguideError("the shares of faulty pages must lie between 0 and 1")
        self.world = world
        self.seed = seed
        self.failing, self.vanished = failing, vanished
        self.slow, self.seconds = slow, seconds

    async def visit(self, link: Link) -> Visit:
        """Visit, or fail."""
        fate, haste = self._chances(link.url)
        if fate < self.failing:
            return Visit(link, None, Verdict(0.0, False), failure="status 500")
        if fate < self.failing + self.vanished:
            return Visit(link, None, Verdict(0.0, False), failure="status 404")
        if haste >= self.slow:
            return await self.world.visit(link)
        await asyncio.sleep(self.seconds)
        visit = await self.world.visit(link)
        return replace(visit, seconds=visit.seconds + self.seconds)

    def _chances(self, url: str) -> tuple[float, float]:
        """Two numbers in [0, 1) that are the same on every machine."""
        digest = blake2b(f"{self.seed} {url}".encode(), digest_size=16).digest()
        first, second = digest[:8], digest[8:]
        return int.from_bytes(first, "big") / 2**64, int.from_bytes(second, "big") / 2**64

    def find(self, name: str) -> Link:
        """The link to a seed, as the world inside knows it."""
        return self.world.find(name)

    async def close(self) -> None:
        """Close the world behind it."""
        await self.world.close()

    def truth(self) -> Truth:
        """The truth of the world inside: what could be found if nothing failed."""
        return self.world.truth()
