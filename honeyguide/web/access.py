"""What a crawl shows to certain hosts: headers, cookies, logins and certificates.

A secret is sent to the hosts that it was given for and to no other, on redirects neither: the
hosts of the seeds, unless it names one itself. Over plain HTTP it is sent only where a seed, or
the secret itself, names the host with http://.
"""

import base64
import netrc
import re
import ssl
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from honeyguide import urls
from honeyguide.disk.line_files import read_lines
from honeyguide.errors import HoneyguideError
from honeyguide.urls.spelling import Target, host_of
from honeyguide.web.proxies import Proxy, parse_proxy

# headers that say nothing about the operator: they are sent to all hosts
HARMLESS = frozenset({"accept-language", "dnt", "sec-gpc", "from"})
# headers that a request has already, with the flag that sets them
TAKEN = {"user-agent": "--user-agent", "cookie": "--cookie", "proxy-authorization": "--proxy"}
OWN = frozenset(
    "accept accept-encoding connection content-length content-type host if-modified-since"
    " if-none-match keep-alive range te trailer transfer-encoding upgrade".split()
)
_header = re.compile(r"(?:(\S+) +)?([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*(.*)").fullmatch
_cookie = re.compile(r"([!#$%&'*+.^_`|~0-9A-Za-z-]+)=([^\s;,\"\\]*)").fullmatch
_NETSCAPE = 7  # fields of a line of a cookie file
_HTTP_ONLY = "#HttpOnly_"  # before the domain of a cookie that scripts must not see


@dataclass(frozen=True, slots=True)
class Header:
    """A header for one host, for the hosts of the seeds, or for all hosts."""

    name: str
    value: str = field(repr=False)  # empty: it was given to an earlier run, and is not stored
    host: str = ""  # empty: those of the seeds
    plain: bool = False  # whether it may be sent over http

    @property
    def is_secret(self) -> bool:
        """Whether it may be sent to its own hosts only."""
        return self.name.lower() not in HARMLESS


@dataclass(frozen=True, slots=True)
class Cookie:
    """A cookie: for the hosts of the seeds, or as a cookie file says."""

    name: str
    value: str = field(repr=False)
    domain: str = ""  # empty: the hosts of the seeds
    subdomains: bool = False
    path: str = "/"
    secure: bool = False
    expires: float = 0.0  # seconds since 1970; 0: never

    def fits(self, place: Target, seeds: Iterable[str], now: float) -> bool:
        """Whether it is sent with a request (RFC 6265, 5.4)."""
        if (self.expires and self.expires <= now) or not self._fits_path(place.path):
            return False
        if self.secure and not place.url.startswith("https:"):
            return False
        if not self.domain:
            return place.host in seeds
        return place.host == self.domain or (
            self.subdomains and place.host.endswith(f".{self.domain}")
        )

    def _fits_path(self, path: str) -> bool:
        path = path.partition("?")[0]
        folder = self.path if self.path.endswith("/") else f"{self.path}/"
        return path == self.path or path.startswith(folder)


@dataclass(frozen=True)
class Access:
    """Headers, cookies, logins, certificates and the proxy of a crawl."""

    seeds: tuple[str, ...] = ()  # URLs: secrets that name no host are for their hosts
    headers: tuple[Header, ...] = ()
    cookies: tuple[Cookie, ...] = ()
    logins: Mapping[str, str] = field(default_factory=dict, repr=False)  # host: Authorization
    proxy: Proxy | None = None
    client_cert: str = ""  # a file; shown to the hosts of the seeds
    client_key: str = ""  # a file; empty: it is in the one of the certificate
    ca_file: str = ""  # certificates to trust, besides the system's
    clock: Callable[[], float] = time.time  # seconds since 1970

    def headers_for(self, place: Target) -> dict[str, str]:
        """The headers to send with a request, and those of secrets only where they belong."""
        return self.harmless | self.secrets_for(place)

    @cached_property
    def harmless(self) -> dict[str, str]:
        """Headers that are sent to all hosts."""
        return {each.name: each.value for each in self.headers if not each.is_secret}

    def secrets_for(self, place: Target) -> dict[str, str]:
        """Headers with secrets that belong to the request's host."""
        if not (self.logins or self.cookies or self._secret_headers):
            return {}
        is_plain = place.url.startswith("http:")
        found = {}
        if place.host in self.logins and (not is_plain or place.host in self._plain_hosts):
            found["Authorization"] = self.logins[place.host]
        for each in self._secret_headers:
            hosts = (each.host,) if each.host else self._hosts
            may_be_plain = each.plain or place.host in self._plain_hosts
            if place.host in hosts and (not is_plain or may_be_plain):
                found[each.name] = each.value
        if cookies := self._cookies_for(place, is_plain):
            found["Cookie"] = cookies
        return found

    def ssl_for(self, host: str) -> ssl.SSLContext | bool:
        """How to check a host's certificate, and what to show it; True: the usual way."""
        if self.client_cert and host in self._hosts:
            return self._tls_with_certificate
        return self._tls if self.ca_file else True

    def check(self) -> None:
        """Read the files of certificates; a HoneyguideError if one cannot be used."""
        _ = self._tls, self.client_cert and self._tls_with_certificate

    def _cookies_for(self, place: Target, is_plain: bool) -> str:
        now = self.clock()
        return "; ".join(
            f"{each.name}={each.value}"
            for each in self.cookies
            if each.fits(place, self._hosts, now)
            and (each.domain or not is_plain or place.host in self._plain_hosts)
        )

    @cached_property
    def _secret_headers(self) -> tuple[Header, ...]:
        return tuple(each for each in self.headers if each.is_secret and each.value)

    @cached_property
    def _hosts(self) -> frozenset[str]:
        return frozenset(map(host_of, self.seeds))

    @cached_property
    def _plain_hosts(self) -> frozenset[str]:
        return frozenset(host_of(seed) for seed in self.seeds if seed.startswith("http:"))

    @cached_property
    def _tls(self) -> ssl.SSLContext:
        context = ssl.create_default_context()
        if self.ca_file:
            try:
                context.load_verify_locations(self.ca_file)
            except (OSError, ssl.SSLError) as error:
                raise _unusable("CA file", self.ca_file, error) from None
        return context

    @cached_property
    def _tls_with_certificate(self) -> ssl.SSLContext:
        context = ssl.create_default_context()
        if self.ca_file:
            context.load_verify_locations(self.ca_file)
        try:
            context.load_cert_chain(
                self.client_cert, self.client_key or None, password=_no_password
            )
        except (OSError, ssl.SSLError, ValueError) as error:
            raise _unusable("client certificate", self.client_cert, error) from None
        return context


def _no_password() -> str:
    raise ValueError("its key is encrypted: give one without a passphrase")


def _unusable(what: str, path: str, error: Exception) -> HoneyguideError:
    reason = getattr(error, "reason", None) or getattr(error, "strerror", None) or str(error)
    return HoneyguideError(f"the {what} {path} cannot be used: {reason}")


def access(
    seeds: Sequence[str] = (),
    header: Sequence[str] = (),
    cookie: Sequence[str] = (),
    auth_file: str = "",
    proxy: str = "",
    client_cert: str = "",
    client_key: str = "",
    ca_file: str = "",
) -> Access:
    """Read the settings of users: values as they are, and files."""
    if client_key and not client_cert:
        raise HoneyguideError("--client-key needs the certificate it belongs to: --client-cert")
    return Access(
        tuple(url for seed in seeds if (url := urls.typed(seed)) is not None),
        tuple(each for said in header for each in read_headers(said)),
        tuple(each for said in cookie for each in read_cookies(said)),
        read_logins(auth_file) if auth_file else {},
        parse_proxy(proxy) if proxy else None,
        client_cert,
        client_key,
        ca_file,
    )


# ----------------------------------------------------------------------- headers


def read_headers(said: str) -> list[Header]:
    """Read "NAME: VALUE", "HOST NAME: VALUE", or @FILE with one a line."""
    lines = read_lines(Path(said[1:])) if said.startswith("@") else [said.strip()]
    return [_read_header(line) for line in lines if not line.startswith("#")]


def _read_header(line: str) -> Header:
    found = _header(line)
    if found is None or not found[3].isprintable():
        name = line.partition(":")[0]  # never the value in a message
        raise HoneyguideError(f"{name!r} is no header: say 'NAME: VALUE', or 'HOST NAME: VALUE'")
    place, name, value = found[1] or "", found[2], found[3].strip()
    if flag := TAKEN.get(name.lower()):
        raise HoneyguideError(f"the header {name} has a flag of its own: {flag}")
    if name.lower() in OWN:
        raise HoneyguideError(f"the header {name} is set by honeyguide itself")
    url = urls.typed(place) if place else ""
    if url is None:
        raise HoneyguideError(f"{place!r} is no host to send the header {name} to")
    return Header(name, value, host_of(url) if url else "", place.startswith("http://"))


# ----------------------------------------------------------------------- cookies


def read_cookies(said: str) -> list[Cookie]:
    """Read "NAME=VALUE; ...", or a file in Netscape's format: what has no = is a file's name."""
    if "=" in said:
        return [_read_pair(pair.strip()) for pair in said.split(";") if pair.strip()]
    return [_read_line(line, number, said) for number, line in _cookie_lines(said)]


def _read_pair(pair: str) -> Cookie:
    found = _cookie(pair)
    if found is None:
        name = pair.partition("=")[0]
        raise HoneyguideError(f"{name!r} is no cookie: say NAME=VALUE")
    return Cookie(found[1], found[2])


def _cookie_lines(path: str) -> list[tuple[int, str]]:
    try:
        lines = Path(path).read_text("utf-8").splitlines()
    except OSError as error:
        raise HoneyguideError(f"cannot read the cookie file {path}: {error.strerror}") from None
    except ValueError:
        lines = ["\0"]
    is_comment = re.compile(rf"#(?!{_HTTP_ONLY[1:]})|\s*$").match
    return [(number, line) for number, line in enumerate(lines, 1) if not is_comment(line)]


def _read_line(line: str, number: int, path: str) -> Cookie:
    fields = line.removeprefix(_HTTP_ONLY).split("\t")
    if len(fields) != _NETSCAPE or not re.fullmatch(r"-?\d{1,15}(\.\d+)?", fields[4]):
        raise HoneyguideError(
            f"line {number} of {path} is no cookie: a cookie file in Netscape's format has seven"
            " fields a line, with tabs between them"
        )
    domain, subdomains, path_, secure, expires, name, value = fields
    if not (name + value).isprintable():
        raise HoneyguideError(f"line {number} of {path} has a cookie that no header can carry")
    return Cookie(
        name,
        value,
        domain.lstrip(".").lower(),
        subdomains.upper() == "TRUE" or domain.startswith("."),
        path_ or "/",
        secure.upper() == "TRUE",
        max(0.0, float(expires)),
    )


# ----------------------------------------------------------------------- logins


def read_logins(path: str) -> dict[str, str]:
    """The Authorization header of each host in a netrc file (RFC 7617)."""
    try:
        found = netrc.netrc(path).hosts
    except OSError as error:
        raise HoneyguideError(f"cannot read the auth file {path}: {error.strerror}") from None
    except (netrc.NetrcParseError, ValueError):  # what they say may have a password in it
        raise HoneyguideError(f"{path} is no auth file in netrc form") from None
    if "default" in found:
        raise HoneyguideError(
            f"{path} has a default login, which would be sent to every host: name the machines"
        )
    return {
        machine.lower(): basic(login, password) for machine, (login, _, password) in found.items()
    }


def basic(login: str | None, password: str | None) -> str:
    """The value of an Authorization header (RFC 7617)."""
    pair = f"{login or ''}:{password or ''}".encode()
    return f"Basic {base64.b64encode(pair).decode()}"
