"""honeyguide crawl: start a crawl in a new folder."""

from typing import Annotated

import typer

from honeyguide.cli import access_flags, flags, log_flags
from honeyguide.cli import help_groups as groups
from honeyguide.cli.dashboard import beside
from honeyguide.cli.run_folder import run_folder
from honeyguide.cli.seed_names import read_names
from honeyguide.errors import HoneyguideError

Record = Annotated[
    str,
    groups.start_flag(
        "--record",
        help="A recorded web: take the pages it has from there, and fetch only the others.",
    ),
]
Price = Annotated[
    float | None,
    groups.part_flag(
        "--price",
        min=0,
        help="With --record: how much reward a second of fetching must be worth. [default: 0.1]",
    ),
]
Agent = Annotated[
    str,
    groups.part_flag(
        "--agent",
        help="What chooses the next link; see `honeyguide list agents`, or MODULE:CLASS.",
        autocompletion=groups.names_of("agent"),
    ),
]
Policy = Annotated[
    str,
    groups.part_flag(
        "--policy", help="Start with what the agent of an earlier crawl learnt: its learnt.policy."
    ),
]
Guard = Annotated[
    str,
    groups.part_flag(
        "--guard",
        help="What keeps out of traps and duplicates: watch or none."
        " [default: watch on the live web, else none]",
        autocompletion=groups.names_of("guard"),
    ),
]
Sitemaps = Annotated[
    bool, groups.start_flag("--sitemaps", help="Also follow links from sites' sitemaps.")
]
Parsers = Annotated[
    int | None,
    groups.live_flag(
        "--parsers",
        min=0,
        help="Parse and judge pages in this many extra processes; by default one or two, as"
        " cores allow, once parsing keeps this one busy.",
    ),
]
Languages = Annotated[
    str,
    groups.look_for_flag(
        "--languages",
        help="Only pages in these languages are relevant: two letters each, such as en,de.",
        show_default=False,
    ),
]
MaxDepth = Annotated[
    int | None,
    groups.limit_flag("--max-depth", min=0, help="Follow links at most so far from a seed."),
]
MaxPerHost = Annotated[
    int | None,
    groups.limit_flag("--max-per-host", min=1, help="Fetch at most so many pages of a host."),
]

ShowDashboard = Annotated[
    bool,
    groups.output_flag("--dashboard", help="Show the crawl on a web page while it runs."),
]


def crawl(
    out: flags.Out,
    topic: flags.Topic = "",
    search: flags.Search = [],  # noqa: B006 - never changed
    like: flags.Like = [],  # noqa: B006 - never changed
    judge: flags.Judge = "topic",
    languages: Languages = "",
    seeds: flags.Seeds = [],  # noqa: B006 - a crawl without seeds gets an error of its own
    world: flags.World = "web",
    record: Record = "",
    allow: flags.Allow = [],  # noqa: B006 - never changed
    deny: flags.Deny = [],  # noqa: B006 - never changed
    sitemaps: Sitemaps = False,
    budget: flags.Budget = 1000,
    max_relevant: flags.MaxRelevant = None,
    max_seconds: flags.MaxSeconds = None,
    max_bytes: flags.MaxBytes = None,
    max_barren: flags.MaxBarren = None,
    max_depth: MaxDepth = None,
    max_per_host: MaxPerHost = None,
    max_waiting: flags.MaxWaiting = None,
    max_memory: flags.MaxMemory = flags.NO_SIZE,
    contact: flags.Contact = "",
    delay: flags.Delay = None,
    per_host: flags.PerHost = 1,
    patience: flags.Patience = None,
    in_flight: flags.InFlight = None,
    allow_private: flags.AllowPrivate = False,
    resolve: flags.Resolve = "",
    parsers: Parsers = None,
    user_agent: access_flags.UserAgent = "",
    header: access_flags.Header = [],  # noqa: B006 - never changed
    cookie: access_flags.Cookie = [],  # noqa: B006 - never changed
    auth_file: access_flags.AuthFile = "",
    proxy: access_flags.Proxy = "",
    client_cert: access_flags.ClientCert = "",
    client_key: access_flags.ClientKey = "",
    ca_file: access_flags.CaFile = "",
    agent: Agent = "guide",
    encoder: flags.Encoder = "wordllama",
    idf_sample: flags.IdfSample = "",
    policy: Policy = "",
    gate: flags.Gate = "none",
    guard: Guard = "",
    survey: flags.Survey = 0,
    price: Price = None,
    random_seed: flags.RandomSeed = 0,
    log_level: log_flags.LogLevel = "",
    log_format: log_flags.LogFormat = "text",
    log_file: log_flags.LogFile = None,
    metrics: log_flags.Metrics = None,
    dashboard: ShowDashboard = False,
    config: flags.Config = None,
) -> None:
    """Crawl from the seed pages and keep the pages that are relevant to the topic."""
    from honeyguide.assemble import ACCESS_SETTINGS, WEB_SETTINGS, with_hubs
    from honeyguide.guards.lists import read_list
    from honeyguide.plan import Plan
    from honeyguide.storage.crawl_folder import create_crawl
    from honeyguide.storage.secrets import secrets_of

    if not all(map(str.strip, search)):
        raise HoneyguideError("--search names no word: say what to look for")
    encoder = flags.with_idf_sample(encoder, idf_sample)
    given = {name: value for name, value in locals().items() if name in Plan.__slots__}
    lists = {"seeds": read_names(seeds, world), "allow": read_list(allow), "deny": read_list(deny)}
    plan = Plan(**given | lists | {"languages": tuple(filter(None, [languages]))})
    flags.refuse_unused(world, **{name: given[name] for name in (*WEB_SETTINGS, "parsers")})
    flags.refuse_unused(world, "access", **{name: given[name] for name in ACCESS_SETTINGS})
    started = with_hubs(plan)
    if started is not plan:
        typer.echo(f"hub pages to start from: {', '.join(started.seeds)}")
    follow = log_flags.followed_by(log_level, log_format, log_file, metrics)
    create_crawl(out, started)
    with beside(out, dashboard):
        run_folder(out, follow, **secrets_of(started))
