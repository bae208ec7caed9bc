"""Whose page sent a request, and whether it came from this machine: what its headers tell.

A page of another site, or of another port of this machine, can make its visitor's browser send requests to a loopback
address. Its `Origin` gives it away, and where it had its own name lead to that address, `Host` does.
"""

import re

from starlette.datastructures import Headers

from medir.local import is_local_host_header, is_loopback

_ORIGIN = re.compile(r"(https?)://([^/?#@\\\s]+)")
# what a proxy adds to tell for whom it asks; no browser sends any of them
_FORWARDED = frozenset(
    {
        "forwarded",
        "via",
        "x-real-ip",
        "x-client-ip",
        "x-cluster-client-ip",
        "x-original-forwarded-for",
        "x-original-host",
        "true-client-ip",
        "cf-connecting-ip",
        "fastly-client-ip",
    }
)
_FORWARDED_BEGINS = "x-forwarded"
_FORWARDED_SCHEME = "x-forwarded-proto"


def is_own_origin(headers: Headers, *, scheme: str) -> bool:
    """Whether the page that sent a request is one of the server that the request was sent to.

    Browsers write host and port of `Origin` and `Host` in the same way, so they are compared as they stand.

    `scheme` is `http` or `https`, as the request came in here.
    """
    origins, hosts = headers.getlist("origin"), headers.getlist("host")
    if len(origins) != 1 or len(hosts) != 1:
        return False
    origin = _ORIGIN.fullmatch(origins[0])
    return origin is not None and origin[2] == hosts[0] and origin[1] in _schemes(headers, hosts[0], scheme)


def may_send(headers: Headers, *, scheme: str) -> bool:
    """Whether a request is no other page's: of a program, which sends no `Origin`, or of a page of this server."""
    return "origin" not in headers or is_own_origin(headers, scheme=scheme)


def sits_here(peer: str | None, headers: Headers) -> bool:
    """Whether a request is from this machine, by a name of this machine, and nobody passed it on for another.

    `peer` is the address that it came from; None where it came through no network.
    """
    hosts = headers.getlist("host")
    return (
        (peer is None or is_loopback(peer))
        and len(hosts) == 1
        and is_local_host_header(hosts[0])
        and not is_forwarded(headers)
    )


def is_forwarded(headers: Headers) -> bool:
    """Whether a proxy says that it asks for somebody else."""
    return any(name in _FORWARDED or name.startswith(_FORWARDED_BEGINS) for name in headers)


def _schemes(headers: Headers, host: str, scheme: str) -> tuple[str, ...]:
    """The schemes by which a browser may have reached this server."""
    forwarded = headers.getlist(_FORWARDED_SCHEME)
    if forwarded:
        return tuple(forwarded)
    # a proxy may end TLS and not say so; nobody does between a loopback address and its own machine
    return (scheme,) if is_local_host_header(host) else (scheme, "https")
