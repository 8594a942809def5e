"""honeyguide resume: continue a crawl that was stopped or killed."""

from typing import Annotated

from honeyguide.cli import access_flags, flags, log_flags
from honeyguide.cli import help_groups as groups
from honeyguide.cli.control import read_words
from honeyguide.cli.run_folder import judge_again, run_folder
from honeyguide.errors import HoneyguideError

LIMITS = (
    *("budget", "max_relevant", "max_seconds", "max_bytes", "max_barren", "max_memory"),
    "in_flight",
)
OtherBudget = Annotated[
    int | None,
    groups.limit_flag(
        "--budget",
        min=1,
        help="Stop after this many pages, counting those fetched before. [default: as before]",
    ),
]


OtherJudge = Annotated[
    str,
    groups.look_for_flag(
        "--judge",
        help="Judge all pages again with this judge, and go on with it. [default: as before]",
        show_default=False,
        autocompletion=groups.names_of("judge"),
    ),
]


MoreSeeds = Annotated[
    list[str],
    groups.start_flag("--seed", help="Fetch this page first; repeat for more.", show_default=False),
]
MoreAllowed = Annotated[
    list[str],
    groups.start_flag(
        "--allow",
        help="Undo a --deny, or add to a given --allow list; repeat for more.",
        show_default=False,
    ),
]
MoreDenied = Annotated[
    list[str],
    groups.start_flag(
        "--deny",
        help="Never fetch from these any more; takes hosts, URL prefixes, patterns and files.",
        show_default=False,
    ),
]
Forgotten = Annotated[
    list[str],
    groups.start_flag(
        "--forget", help="Drop the waiting links of this host; repeat for more.", show_default=False
    ),
]
HostDelays = Annotated[
    list[str],
    groups.live_flag(
        "--delay",
        help="HOST=SECONDS between two requests to this host; repeat for more.",
        show_default=False,
    ),
]
OtherInFlight = Annotated[
    int | None,
    groups.live_flag("--in-flight", min=1, help="Visits at the same time. [default: as before]"),
]
Unpause = Annotated[
    bool, groups.limit_flag("--unpause", help="Go on with a crawl that was paused by control.")
]


def resume(
    folder: flags.Folder,
    judge: OtherJudge = "",
    seeds: MoreSeeds = [],  # noqa: B006 - never changed
    allow: MoreAllowed = [],  # noqa: B006 - never changed
    deny: MoreDenied = [],  # noqa: B006 - never changed
    forget: Forgotten = [],  # noqa: B006 - never changed
    budget: OtherBudget = None,
    max_relevant: flags.MaxRelevant = None,
    max_seconds: flags.MaxSeconds = None,
    max_bytes: flags.MaxBytes = None,
    max_barren: flags.MaxBarren = None,
    max_memory: flags.OtherMaxMemory = flags.NO_SIZE,
    unpause: Unpause = False,
    delays: HostDelays = [],  # noqa: B006 - never changed
    in_flight: OtherInFlight = None,
    header: access_flags.Header = [],  # noqa: B006 - never changed
    cookie: access_flags.Cookie = [],  # noqa: B006 - never changed
    auth_file: access_flags.AuthFile = "",
    proxy: access_flags.Proxy = "",
    client_cert: access_flags.ClientCert = "",
    client_key: access_flags.ClientKey = "",
    ca_file: access_flags.CaFile = "",
    log_level: log_flags.LogLevel = "",
    log_format: log_flags.LogFormat = "text",
    log_file: log_flags.LogFile = None,
    metrics: log_flags.Metrics = None,
) -> None:
    """Continue a crawl that was killed, interrupted, or stopped at a limit.

    --seed, --allow, --deny, --forget, --delay and --unpause are orders, as honeyguide control
    gives them.
    """
    from honeyguide.storage.control import give_orders, orders_in_force
    from honeyguide.storage.secrets import SECRETS

    given = locals()
    changes = {
        name: given[name] for name in (*LIMITS, *SECRETS) if given[name] not in (None, "", [])
    }
    orders = [read_words("allow", [each]) for each in allow]
    orders += [read_words("deny", [each]) for each in deny]
    orders += [read_words("forget", [each]) for each in forget]
    orders += [read_words("seed", seeds)] if seeds else []
    orders += [read_words("delay", _host_and_seconds(each)) for each in delays]
    is_paused = orders_in_force(folder).is_paused
    orders += [read_words("unpause", [])] if unpause and is_paused else []
    follow = log_flags.followed_by(log_level, log_format, log_file, metrics)
    give_orders(folder, orders)
    if judge:
        judge_again(folder, judge)
    run_folder(folder, follow, **changes)


def _host_and_seconds(said: str) -> list[str]:
    host, equals, seconds = said.rpartition("=")
    if not equals:
        raise HoneyguideError(f"--delay takes HOST=SECONDS, not {said!r}")
    return [host, seconds]
