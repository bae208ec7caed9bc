"""Where an Ollama server is, from what `OLLAMA_HOST` may hold."""

import ipaddress
import urllib.parse

from rag_core.errors import InvalidInput

DEFAULT_PORT = 11434
_SCHEME_PORTS = {"http": 80, "https": 443}


def server_address(host: str) -> str:
    """The server's URL, with scheme, host and port always given; no user, query or trailing slash.

    Read as Ollama reads it: without a scheme the port defaults to 11434, with one to the scheme's own. The
    addresses on which a server listens everywhere (`0.0.0.0`, `::`) are turned into this machine's, since the
    same variable also tells the server where to listen.

    Args:
        host: `host`, `host:port`, `:port`, `http://host`, with or without a path; empty is this machine.

    Raises:
        InvalidInput: The scheme is neither http nor https, or the port is no port.

    Examples:
        >>> server_address("0.0.0.0"), server_address("http://gpu.lan")
        ('http://127.0.0.1:11434', 'http://gpu.lan:80')
    """
    text = host.strip().strip("\"'")
    scheme, separator, rest = text.partition("://")
    if not separator:
        scheme, rest = "http", text
    scheme = scheme.lower()
    try:
        split = urllib.parse.urlsplit(f"{scheme}://{rest}")
        port = split.port
    except ValueError as error:
        raise _not_an_address(host) from error
    if scheme not in _SCHEME_PORTS or any(character.isspace() for character in text):
        raise _not_an_address(host)
    if port is None:
        port = _SCHEME_PORTS[scheme] if separator else DEFAULT_PORT
    path = split.path.strip("/")
    return f"{scheme}://{_reachable(split.hostname or '127.0.0.1')}:{port}" + (f"/{path}" if path else "")


def _reachable(hostname: str) -> str:
    """The host as it stands in a URL, this machine's own where it means "everywhere"."""
    try:
        address = ipaddress.ip_address(hostname)
    except ValueError:
        return hostname
    if address.version == 6:
        return "[::1]" if address.is_unspecified else f"[{hostname}]"
    return "127.0.0.1" if address.is_unspecified else hostname


def _not_an_address(host: str) -> InvalidInput:
    return InvalidInput(
        f"OLLAMA_HOST is {host!r}, which is no address.",
        hint="Use host, host:port or http://host:port, for example 127.0.0.1:11434.",
    )
