"""robots.txt, sitemaps and response times of generated hosts."""

from typing import NamedTuple

from honeyguide.worlds.synthetic.chance import draw, field, key, share
from honeyguide.worlds.synthetic.layout import SILENT, Host, Layout, Spot
from honeyguide.worlds.synthetic.names import Names

SITEMAP_PAGES = 1000
_PATIENCE = 10.0  # seconds until the timeout of a host that does not answer


class Manners(NamedTuple):
    """The robots.txt rules of a host."""

    robots: bool  # whether it has a robots.txt at all
    forbidden: tuple[str, ...]  # path prefixes
    crawl_delay: float | None  # seconds between two requests
    sitemap: bool


class House:
    """robots.txt, sitemaps and response times of all hosts."""

    def __init__(self, layout: Layout, names: Names, seed: int) -> None:
        self.layout, self.names = layout, names
        self._manners_key, self._speed_key = key(seed, "manners"), key(seed, "speed")

    def manners(self, host: Host) -> Manners:
        """The robots.txt rules of a host."""
        bits = draw(self._manners_key, host.number)
        if share(bits, 0) < 0.1:
            return Manners(False, (), None, False)
        forbidden = ["/cgi-bin/"]
        if share(bits, 1) < 0.25:
            forbidden.append(self._last_section(host))
        if field(bits, 1) % 2:
            forbidden += ["/calendar/", "/shop/"]
        delays = (0.5, 1.0, 2.0, 5.0)
        delay = delays[field(bits, 2) % len(delays)] if share(bits, 2) < 0.15 else None
        return Manners(True, tuple(forbidden), delay, share(bits, 3) < 0.3)

    def _last_section(self, host: Host) -> str:
        """The path prefix of a host's last section, or the path of its last page."""
        path = self.names.path(self.layout.spot(host.start + host.size - 1))
        section = self.names.section(host.number, host.sections - 1)
        return f"/{section}/" if path.startswith(f"/{section}/") else path

    def allows(self, host: Host, path: str) -> bool:
        """Whether a host's robots.txt allows a path."""
        return not path.startswith(self.manners(host).forbidden)

    def robots_txt(self, host: Host) -> str:
        """The robots.txt of a host."""
        manners = self.manners(host)
        lines = ["User-agent: *", *(f"Disallow: {path}" for path in manners.forbidden)]
        if manners.crawl_delay is not None:
            lines.append(f"Crawl-delay: {manners.crawl_delay:g}")
        if manners.sitemap:
            lines += ["", f"Sitemap: http://{self.names.host_name(host.number)}/sitemap.xml"]
        return "\n".join(lines) + "\n"

    def sitemap_xml(self, host: Host) -> str:
        """The sitemap of a host, with its first 1,000 pages."""
        last = host.start + min(host.size, SITEMAP_PAGES)
        urls = [self.names.url(self.layout.spot(page)) for page in range(host.start, last)]
        body = "".join(f"<url><loc>{url}</loc></url>\n" for url in urls)
        space = "http://www.sitemaps.org/schemas/sitemap/0.9"
        return (
            f'<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="{space}">\n{body}</urlset>\n'
        )

    def seconds(self, spot: Spot) -> float:
        """The response time of a page in seconds."""
        if spot.status == SILENT:
            return _PATIENCE
        of_host, of_page = (
            draw(self._speed_key, number) for number in (spot.host.number, ~spot.page & 0xFFFFFFFF)
        )
        usual = 0.05 + 0.25 * share(of_host, 0)
        if share(of_host, 1) < 0.08:
            usual += 1.0 + 2.0 * share(of_host, 2)
        if share(of_page, 0) < 0.03:
            usual += 2.0 + 4.0 * share(of_page, 1)
        return usual * (0.5 + share(of_page, 2))
