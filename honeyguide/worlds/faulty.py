"""Wraps a world and makes some of its pages fail, vanish or answer slowly."""

import asyncio
from dataclasses import replace
from hashlib import blake2b

from honeyguide.contracts import Link, Truth, Verdict, Visit, World
from honeyguide.errors import HoneyguideError


class FaultyWorld:
    """Breaks the visits that a hash of the seed and the URL selects, the same in every run."""

    def __init__(
        self,
        world: World,
        seed: int = 1,
        failing: float = 0.05,  # share of pages that answer with a server error
        vanished: float = 0.02,  # share of pages that are not found
        slow: float = 0.05,  # share of all other pages that take `seconds` longer
        seconds: float = 5.0,
    ) -> None:
        if min(failing, vanished, slow, seconds) < 0 or failing + vanished > 1 or slow > 1:
            raise HoneyguideError(
                "the shares of faulty pages must be between 0 and 1, and seconds zero or more"
            )
        self.world = world
        self.seed = seed
        self.failing, self.vanished = failing, vanished
        self.slow, self.seconds = slow, seconds

    async def visit(self, link: Link) -> Visit:
        """Visit a page of the wrapped world, with its fault if it has one."""
        failing, slow = self._draws(link.url)
        if failing < self.failing:
            return Visit(link, None, Verdict(0.0, False), failure="status 500")
        if failing < self.failing + self.vanished:
            return Visit(link, None, Verdict(0.0, False), failure="status 404")
        if slow >= self.slow:
            return await self.world.visit(link)
        await asyncio.sleep(self.seconds)
        visit = await self.world.visit(link)
        return replace(visit, seconds=visit.seconds + self.seconds)

    def _draws(self, url: str) -> tuple[float, float]:
        """Two pseudo-random numbers in [0, 1) for a URL, the same on every machine."""
        digest = blake2b(f"{self.seed} {url}".encode(), digest_size=16).digest()
        first, second = digest[:8], digest[8:]
        return int.from_bytes(first, "big") / 2**64, int.from_bytes(second, "big") / 2**64

    def find(self, name: str) -> Link:
        """The link to a seed, as the wrapped world finds it."""
        return self.world.find(name)

    async def close(self) -> None:
        """Close the wrapped world."""
        await self.world.close()

    def truth(self) -> Truth:
        """The truth about the wrapped world, in which nothing fails."""
        return self.world.truth()
