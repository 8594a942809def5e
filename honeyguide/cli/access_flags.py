"""Flags of `crawl` and `resume` for sites that want something: a login, a cookie, a proxy."""

from typing import Annotated

from honeyguide.cli import help_groups as groups

UserAgent = Annotated[
    str,
    groups.access_flag(
        "--user-agent",
        help="The User-Agent to send; rules in robots.txt are matched with its name."
        " [default: honeyguide/VERSION and --contact]",
        show_default=False,
    ),
]
Header = Annotated[
    list[str],
    groups.access_flag(
        "--header",
        help="A header 'NAME: VALUE' for the hosts of the seeds, 'HOST NAME: VALUE' for another"
        " one, or @FILE with one a line; repeat for more. Values are not stored.",
        show_default=False,
    ),
]
Cookie = Annotated[
    list[str],
    groups.access_flag(
        "--cookie",
        help="A cookie NAME=VALUE for the hosts of the seeds, or a cookie file in Netscape's"
        " format; repeat for more. Values are not stored.",
        show_default=False,
    ),
]
AuthFile = Annotated[
    str,
    groups.access_flag(
        "--auth-file", help="A file with logins of hosts, in netrc form.", show_default=False
    ),
]
Proxy = Annotated[
    str,
    groups.access_flag(
        "--proxy",
        help="Send all requests through http://HOST:PORT or socks5://HOST:PORT;"
        " NAME:PASSWORD@ before the host logs in, and is not stored.",
        show_default=False,
    ),
]
ClientCert = Annotated[
    str,
    groups.access_flag(
        "--client-cert",
        help="A PEM file with a certificate to show to the hosts of the seeds.",
        show_default=False,
    ),
]
ClientKey = Annotated[
    str,
    groups.access_flag(
        "--client-key",
        help="A PEM file with the key of --client-cert, if that has none.",
        show_default=False,
    ),
]
CaFile = Annotated[
    str,
    groups.access_flag(
        "--ca-file",
        help="A PEM file with certificates to trust, besides the system's.",
        show_default=False,
    ),
]
