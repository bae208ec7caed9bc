"""What "this machine" means: whose account the process runs under, and whether a caller sits here."""

import getpass
import ipaddress
import os
import re

_LOCALHOST = "localhost"
_HOST = re.compile(r"(?:\[([^\[\]]+)\]|([^\[\]:]+))(?::[0-9]{1,5})?")


def account_name() -> str:
    """The account that this process runs under, by its name or else its number."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return str(os.getuid())


def is_loopback(address: str) -> bool:
    """Whether an address reaches nobody but this machine; a name other than `localhost` is none."""
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return address.lower().rstrip(".") == _LOCALHOST


def is_local_host_header(host: str) -> bool:
    """Whether a request names this machine by a loopback address or `localhost`, with any port.

    A page of another site may have its own name lead to a loopback address; the name in `Host` gives it away.
    """
    found = _HOST.fullmatch(host)
    return found is not None and is_loopback(found[1] or found[2])
