"""Who signed in with a provider, and their role: by address, or by a claim that the provider makes of them. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from rag_core.errors import NotPermitted, NotSignedIn

if TYPE_CHECKING:
    from rag_core.model import Role


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """What a provider said of somebody. `address` is in lower case; `since` is when it said so, None: not known."""

    address: str
    claims: Mapping[str, object] = field(repr=False)
    since: datetime | None

    @classmethod
    def of(cls, claims: Mapping[str, object]) -> "Person | None":
        """Whoever signed in; None where nobody did, or the provider calls the address unconfirmed."""
        address, issued = claims.get("email"), claims.get("iat")
        if not claims.get("is_logged_in") or not isinstance(address, str):
            return None
        if claims.get("email_verified", True) is not True:
            return None
        since = datetime.fromtimestamp(issued, UTC) if isinstance(issued, int) else None
        return cls(address=address.lower(), claims=claims, since=since)


@dataclass(frozen=True, slots=True, kw_only=True)
class People:
    """Who may sign in as what.

    `by_address` is by e-mail address in lower case and goes before `by_claim`, which is by a value of the claim named
    `claim`; dots in that lead into claims within claims. A sign-in is good for `lasts`.
    """

    by_address: "Mapping[str, Role]" = field(default_factory=dict)
    by_claim: "Mapping[str, Role]" = field(default_factory=dict)
    claim: str = ""
    lasts: timedelta = timedelta(days=30)

    def role_of(self, person: Person, *, now: datetime) -> "Role":
        """The person's role; of several that the claim gives, the one that may do most.

        Raises:
            NotSignedIn: The sign-in is too long ago.
            NotPermitted: The person has none.
        """
        if person.since is not None and now - person.since >= self.lasts:
            raise NotSignedIn("This sign-in has expired.", hint="Sign in with your provider again.")
        role = self.by_address.get(person.address)
        if role is not None:
            return role
        given = {
            self.by_claim[value] for value in _values(person.claims, self.claim) if value in self.by_claim
        }
        if not given:
            raise NotPermitted(
                f"{person.address} has no role in this installation.",
                hint="Whoever keeps it can name one in [sign_in] or [sign_in_claim] of medir.toml.",
            )
        return "maintainer" if "maintainer" in given else "viewer"


def _values(claims: Mapping[str, object], name: str) -> Sequence[str]:
    """The texts that a claim holds: itself, or those in its list."""
    found: object = claims.get(name)
    if found is None:
        found = claims
        for part in name.split("."):
            found = found.get(part) if isinstance(found, Mapping) else None
    listed = found if isinstance(found, list | tuple) else [found]
    return [value for value in listed if isinstance(value, str)]
