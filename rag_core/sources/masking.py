"""Secrets in session logs: recognised by detect-secrets' rules and masked before anything is stored.

Only rules of high precision are used, those that know a provider's token by its shape. Entropy and keyword rules
would mask commit hashes and ordinary prose.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache

from detect_secrets.core.plugins.util import get_mapping_from_secret_type_to_class
from detect_secrets.plugins.base import RegexBasedDetector

from rag_core.events import SessionEvent

_IMPRECISE = frozenset(
    {
        "Base64 High Entropy String",
        "Hex High Entropy String",
        "IBM COS HMAC Credentials",
        "Public IP (ipv4)",
        "Secret Keyword",
        "SoftLayer Credentials",
    }
)
_URL_RULE = "Basic Auth Credentials"
_TOKEN = re.compile(r"[A-Za-z0-9_\-+/=.]*[A-Za-z0-9_\-+/=]")
# detect-secrets reports the header line only; the key itself stands between header and footer
_PRIVATE_KEY = re.compile(
    r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----.*?(?:-----END [^-]*-----|\Z)", re.DOTALL
)


@dataclass(frozen=True, slots=True, kw_only=True)
class MaskedText:
    """A text with a marker in the place of each secret, and how many there were."""

    text: str
    count: int


def mask_text(text: str) -> MaskedText:
    """Replace every recognised secret by `[masked: WHAT]`.

    Examples:
        >>> mask_text("postgres://ana:s3nh4@db.exemplo.com.br/x").text
        'postgres://ana:[masked: Basic Auth Credentials]@db.exemplo.com.br/x'
    """
    text, count = _PRIVATE_KEY.subn("[masked: Private Key]", text)
    for rule in _rules():
        for start, end in reversed(_spans(rule, text)):
            text = f"{text[:start]}[masked: {rule.kind}]{text[end:]}"
            count += 1
    return MaskedText(text=text, count=count)


def mask_event(event: SessionEvent) -> tuple[SessionEvent, int]:
    """The event with every text and key of its title and payload masked, and how many secrets there were."""
    title = mask_text(event.title) if event.title is not None else None
    payload, count = _mask_value(event.payload)
    masked = SessionEvent(
        session_id=event.session_id,
        event_id=event.event_id,
        type=event.type,
        created_at=event.created_at,
        actor_kind=event.actor_kind,
        actor_id=event.actor_id,
        title=title.text if title else None,
        payload=payload if isinstance(payload, dict) else {},
    )
    return masked, count + (title.count if title else 0)


def _mask_value(value: object) -> tuple[object, int]:
    if isinstance(value, str):
        masked = mask_text(value)
        return masked.text, masked.count
    if isinstance(value, dict):
        return _mask_mapping({str(key): entry for key, entry in value.items()})
    if isinstance(value, list):
        entries = [_mask_value(entry) for entry in value]
        return [entry for entry, _ in entries], sum(count for _, count in entries)
    return value, 0


def _mask_mapping(value: Mapping[str, object]) -> tuple[dict[str, object], int]:
    masked: dict[str, object] = {}
    total = 0
    for key, entry in value.items():
        name = mask_text(key)
        content, count = _mask_value(entry)
        # two keys that were both secrets must not become one
        free = name.text if name.text not in masked else f"{name.text} {len(masked)}"
        masked[free] = content
        total += name.count + count
    return masked, total


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rule:
    kind: str
    patterns: tuple[re.Pattern[str], ...]
    confirm: Callable[[str], bool]


@cache
def _rules() -> tuple[_Rule, ...]:
    rules: list[_Rule] = []
    for kind, plugin in sorted(get_mapping_from_secret_type_to_class().items()):
        if issubclass(plugin, RegexBasedDetector) and kind not in _IMPRECISE and kind != "Private Key":
            detector = plugin()
            rules.append(_Rule(kind=kind, patterns=tuple(detector.denylist), confirm=_confirmer(detector)))
    return tuple(rules)


def _confirmer(detector: RegexBasedDetector) -> Callable[[str], bool]:
    # some rules look twice, e.g. whether a JSON Web Token decodes
    return lambda matched: any(True for _ in detector.analyze_string(matched))


def _spans(rule: _Rule, text: str) -> list[tuple[int, int]]:
    """Where the rule's secrets stand, in order, without overlap."""
    found: list[tuple[int, int]] = []
    for pattern in rule.patterns:
        for match in pattern.finditer(text):
            if not rule.confirm(match.group()):
                continue
            if rule.kind == _URL_RULE:
                found.append(match.span(1))
                continue
            # a rule may match a token's beginning only; what is left of it would still be the secret's
            rest = _TOKEN.match(text, match.end())
            found.append((match.start(), rest.end() if rest else match.end()))
    disjoint: list[tuple[int, int]] = []
    for start, end in sorted(found):
        if not disjoint or start >= disjoint[-1][1]:
            disjoint.append((start, end))
    return disjoint
