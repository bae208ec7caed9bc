"""Secrets in session logs: recognised and masked before anything is stored.

Three sorts of rules: tokens known by their shape, whatever stands around them (`secret_shapes`); values that something
says to be a secret, a name, a header, an address or a sentence, where they can be one (`secret_values`); and private
keys between their marks. Every rule reads a text once: what can't be known without comparing much with much, such as
the entropy of every word, is left alone, and so are commit ids, digests and data that are no secret by themselves.
"""

import bisect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from rag_core.model.session_events import SessionEvent
from rag_core.sources.secret_shapes import OTHER_RULES, RULES
from rag_core.sources.secret_values import is_password, is_placeholder, is_random
from rag_core.sources.tax_numbers import find_tax_numbers

_PASSWORDS = (
    r"passw(?:or)?d|passwd|passphrase|(?<![A-Za-z])pass|dbpass|pwd|psw|senha|PGPASSWORD|REDISCLI_AUTH"
)
_TOKENS = (
    r"(?:secret[_ -]?)?access[_ -]?key(?:[_ -]?id)?|api[_ -]?(?:key|token|secret)|"
    r"chave(?: secreta| privada|(?: da| de) api)|"
    r"(?:private|secret|signing|encryption|account|master|auth|shared[_ -]?access)[_ -]?key|"
    r"client[_ -]?secret|secret|segredo|token|_auth|credentials?|authorization"
)
# a name, what may stand between it and its value, and the value
_NAMED = re.compile(
    rf"(?P<before>[A-Za-z0-9_.?&;-]?)(?:(?P<password>{_PASSWORDS})|(?P<token>{_TOKENS}))"
    r"""(?P<close>\\?["'`\]*]{0,3})(?P<sign>[ \t]{0,3}(?:=>|:=|={1,2}|:|->)[ \t]{0,3}|"""
    r"""[ \t]{1,3}(?:is|é|eh|are|=)[ \t:]{1,3})"""
    r"""(?P<open>\\?["'`]{0,1})(?P<value>[^\s"'`]{4,400})""",
    re.IGNORECASE,
)
_SAID = re.compile(
    r"""\b(?:(?P<password>senha|password|passphrase)|(?P<token>token|secret|segredo|chave|api key))"""
    r"""(?: [^\W\d_]{1,12}){1,5}?(?::| is| é| eh)[ ]{1,2}(?P<open>["'`]?)(?P<value>[^\s"'`]{6,200})""",
    re.IGNORECASE,
)
_BESIDE = re.compile(
    r"""\b(?:token|secret|segredo|senha|password|chave|key)[ ]["'`(]?(?P<value>[A-Za-z0-9_+/=.-]{16,400})""",
    re.IGNORECASE,
)
_HEX_OR_ID = re.compile(r"[0-9a-fA-F-]+")
_FLAG = re.compile(
    r"""--(?:(?P<password>password|pass|passwd|senha|passphrase)|"""
    r"""(?P<token>[a-z-]{0,20}(?:token|secret)|(?:api|access|secret)-key))"""
    r"""[ =]["']?(?P<value>[^\s"']{4,300})""",
    re.IGNORECASE,
)
_HEADER = re.compile(
    r"""(?:\bbearer[ ]{1,2}|authorization["']?[:=][ ]{0,2}["']?(?:basic|token|apikey|bot)[ ])"""
    r"""(?P<value>[A-Za-z0-9._~+/=:-]{12,4000})""",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"://(?P<user>[^\s/:@\"'<>]{0,128}):(?P<value>[^\s/\"'<>]{1,256})@(?=[^\s@])")
_ADDRESS_TOKEN = re.compile(r"://(?P<value>[A-Za-z0-9_-]{20,256})@")
_LOGIN = re.compile(
    r"""\blogin[ \t]{1,4}\S{1,100}[ \t\r\n]{1,8}password[ \t]{1,4}(?P<netrc>\S{4,200})"""
    r"""|\bsshpass[ ]-p[ ]?["']?(?P<ssh>[^\s"']{4,100})"""
    r"""|\b(?:curl|wget|http)\b[^\n]{0,200}?[ ](?:-u|--user)[ =]?["']?[^\s:"']{1,100}:(?P<user>[^\s"']{3,100})"""
    r"""|\bmysql(?:dump|admin)?\b[^\n]{0,100}?[ ]-p(?P<mysql>[^\s"']{4,100})"""
    r"""|(?:^|\n)[A-Za-z0-9_.*-]{1,100}:[0-9*]{1,5}:[^\s:]{1,64}:[^\s:]{1,64}:(?P<pgpass>[^\s]{4,100})(?=\n|$)""",
)
_SIGNATURE = re.compile(
    r"[?&](?:sig|X-Amz-Signature|X-Amz-Security-Token)=(?P<value>[A-Za-z0-9%/+=_-]{20,2000})"
)
_AUTH_ENTRY = re.compile(r"""\\?"auth\\?"[ ]{0,2}:[ ]{0,2}\\?"(?P<value>[A-Za-z0-9+/=]{12,2000})""")
_AWS_SECRET = re.compile(r"(?<![A-Za-z0-9/+=_.-])[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=_-])")
_AWS_NEAR = 200
_MAX_NAMED_CHARS = 400
_DATA = re.compile(r"data:[\w/+.-]{1,60}(?:;[\w=-]{1,30})?;base64,[A-Za-z0-9+/=]*")
_MARK = re.compile(r"-----(?P<which>BEGIN|END) (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_KEY_LINES = re.compile(
    r"(?:(?:\\[nr]|\s){1,6}[A-Za-z0-9+/]{30,76}={0,2}(?![^\s\\\"'])){1,400}(?:(?:\\[nr]|\s){1,4}[A-Za-z0-9+/]{1,76}={0,2}(?=\s*$|\\|\"))?"
)
_KEY_HEADER = re.compile(r"(?:Proc-Type|DEK-Info|Version|Comment|Hash) ?:[^\n\\]*")
_KEY_BREAK = re.compile(r"(?:\\[nrt\"]|[\s\"'+,\\])+(?=$|[\s\"'A-Za-z0-9/=])|\\[nr]|\s+")
_KEY_PIECE = re.compile(r"[A-Za-z0-9+/]+=*|=[A-Za-z0-9+/]{4}")
_PUTTY = re.compile(r"Private-Lines: [0-9]{1,3}(?P<value>(?:(?:\\[nr]|\s){1,4}[A-Za-z0-9+/=]{16,76}){1,100})")


@dataclass(frozen=True, slots=True, kw_only=True)
class MaskedText:
    """A text with a marker in the place of each secret, and how many there were."""

    text: str
    count: int


@dataclass(frozen=True, slots=True, order=True)
class _Span:
    start: int
    end: int
    kind: str


def mask_text(text: str, *, tax_numbers: bool = False) -> MaskedText:
    """Replace every recognised secret by `[masked: WHAT]`.

    `tax_numbers`: CPF and CNPJ numbers, known by their check digits, are masked too.

    Examples:
        >>> mask_text("postgres://ana:s3nh4@db.exemplo.com.br/x").text
        'postgres://ana:[masked: Basic Auth Credentials]@db.exemplo.com.br/x'
    """
    spans = sorted(_spans(text, tax_numbers=tax_numbers))
    parts: list[str] = []
    done = count = 0
    for span in _joined(spans):
        parts += (text[done : span.start], f"[masked: {span.kind}]")
        done = span.end
        count += 1
    parts.append(text[done:])
    return MaskedText(text="".join(parts), count=count)


def mask_event(event: SessionEvent, *, tax_numbers: bool = False) -> tuple[SessionEvent, int]:
    """The event with every text and key of its title and payload masked, and how many secrets there were."""
    title = mask_text(event.title, tax_numbers=tax_numbers) if event.title is not None else None
    payload, count = _Masker(tax_numbers=tax_numbers).value(event.payload)
    masked = replace(event, title=title and title.text, payload=payload if isinstance(payload, dict) else {})
    return masked, count + (title.count if title else 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Masker:
    """Walks a payload."""

    tax_numbers: bool

    def value(self, value: object) -> tuple[object, int]:
        if isinstance(value, str):
            masked = mask_text(value, tax_numbers=self.tax_numbers)
            return masked.text, masked.count
        if isinstance(value, dict):
            return self._mapping({str(key): entry for key, entry in value.items()})
        if isinstance(value, list):
            entries = [self.value(entry) for entry in value]
            return [entry for entry, _ in entries], sum(count for _, count in entries)
        return value, 0

    def _mapping(self, value: Mapping[str, object]) -> tuple[dict[str, object], int]:
        masked: dict[str, object] = {}
        total = 0
        for key, entry in value.items():
            name = mask_text(key, tax_numbers=self.tax_numbers)
            content, count = self._entry(key, entry)
            # two keys that were both secrets must not become one
            free = name.text if name.text not in masked else f"{name.text} {len(masked)}"
            masked[free] = content
            total += name.count + count
        return masked, total

    def _entry(self, key: str, entry: object) -> tuple[object, int]:
        """What stands under a key that says it to be a secret is read together with it."""
        content, count = self.value(entry)
        if not count and isinstance(entry, str) and len(entry) <= _MAX_NAMED_CHARS:
            beginning = f'"{key}": "'
            for kind, start, end in _named(f'{beginning}{entry}"'):
                if (start, end) == (len(beginning), len(beginning) + len(entry)):
                    return f"[masked: {kind}]", 1
        return content, count


def _spans(text: str, *, tax_numbers: bool) -> Iterator[_Span]:
    data = [match.span() for match in _DATA.finditer(text)] if ";base64," in text else []
    beginnings = [start for start, _ in data]
    for rule in (*_RULES, *([find_tax_numbers] if tax_numbers else [])):
        for kind, start, end in rule(text):
            place = bisect.bisect_right(beginnings, start) - 1
            if place < 0 or start >= data[place][1]:
                yield _Span(start, end, kind)


def _joined(spans: Iterable[_Span]) -> Iterator[_Span]:
    """What several rules found in one place is one secret, called as the longest of them is."""
    held: _Span | None = None
    for span in spans:
        if held is None or span.start >= held.end:
            if held is not None:
                yield held
            held = span
            continue
        longest = max(held, span, key=lambda each: each.end - each.start)
        held = _Span(held.start, max(held.end, span.end), longest.kind)
    if held is not None:
        yield held


_Found = Iterator[tuple[str, int, int]]


def _shapes(text: str) -> _Found:
    for kind, beginning, pattern in RULES:
        if beginning in text:
            for match in pattern.finditer(text):
                if _is_token(match.group().removeprefix(beginning)):
                    yield kind, *match.span()
    for kind, pattern in OTHER_RULES:
        for match in pattern.finditer(text):
            if _is_token(match.group()):
                yield kind, *match.span()


def _is_token(rest: str) -> bool:
    return not is_placeholder(rest) and any(sign.isdigit() or sign.isupper() for sign in rest)


def _private_keys(text: str) -> _Found:
    marks = list(_MARK.finditer(text)) if "PRIVATE KEY" in text else []
    for place, mark in enumerate(marks):
        if mark["which"] == "END":
            continue
        after = marks[place + 1] if place + 1 < len(marks) else None
        end = len(text) if after is None else after.start()
        if after is not None and after["which"] == "END" and end > mark.end():
            body = text[mark.end() : end]
            if _is_key(body):
                yield "Private Key", mark.start(), after.end()
                continue
        # its end is missing, so the lines that look like a key's are all that is known of it
        lines = _KEY_LINES.match(text, mark.end(), end)
        if lines:
            yield "Private Key", mark.start(), lines.end()
    if "Private-Lines: " in text:
        for match in _PUTTY.finditer(text):
            yield "Private Key", *match.span("value")


def _is_key(body: str) -> bool:
    """Whether what stands between two marks is a key, in one piece or in its lines, and no sentence about one."""
    pieces = [piece for piece in _KEY_BREAK.split(_KEY_HEADER.sub("", body)) if piece]
    return (
        len(set(body)) > 5
        and (len(pieces) == 1 or max(map(len, pieces), default=0) >= 20)
        and all(_KEY_PIECE.fullmatch(piece) for piece in pieces)
    )


def _named(text: str) -> _Found:
    place = 0
    while match := _NAMED.search(text, place):
        value = _cut(match["value"], match)
        start = match.start("value")
        name = match["password"] or match["token"]
        if match["password"] is not None:
            by_name = match["sign"] == "=" and name.isupper()
            good = is_password(value, set_by_name=by_name)
            kind = "Password"
        else:
            good = is_random(value)
            kind = "Secret"
        if good:
            yield kind, start, start + len(value)
        # a value that is none may hold another name
        place = start + len(value) if good else start


def _cut(value: str, match: re.Match[str]) -> str:
    """The value without what belongs to the sentence, the address or the code around it."""
    before = match.string[max(0, match.start() - 200) : match.start("value")].rsplit(" ", 1)[-1]
    if "?" in before or "&" in before:
        value = value.split("&", 1)[0]
    value = value.split(";", 1)[0]
    if not match["open"]:
        value = value.split(",", 1)[0] if "," in value else value
        value = value.rstrip(".,:)]}>")
    return value.rstrip("\\")


def _said(text: str) -> _Found:
    for pattern in (_SAID, _FLAG):
        for match in pattern.finditer(text):
            value = match["value"].rstrip(".,;:!?)")
            start = match.start("value")
            good = is_password(value, set_by_name=False) if match["password"] else is_random(value)
            if good:
                yield ("Password" if match["password"] else "Secret"), start, start + len(value)


def _beside(text: str) -> _Found:
    for match in _BESIDE.finditer(text):
        value = match["value"].rstrip(".")
        if is_random(value) and not _HEX_OR_ID.fullmatch(value):
            yield "Secret", match.start("value"), match.start("value") + len(value)


def _headers(text: str) -> _Found:
    for match in _HEADER.finditer(text):
        value = match["value"].rstrip(".:")
        if is_random(value):
            yield "Authorization Header", match.start("value"), match.start("value") + len(value)
    for pattern in (_SIGNATURE, _AUTH_ENTRY):
        for match in pattern.finditer(text):
            if not is_placeholder(match["value"]):
                yield "Authorization Header", *match.span("value")


def _addresses(text: str) -> _Found:
    if "://" not in text:
        return
    for match in _ADDRESS.finditer(text):
        value = match["value"]
        if not is_placeholder(value) and not re.fullmatch(r"\$\w+|%\w+%|[A-Z]+(?:_[A-Z]+)+", value):
            yield "Basic Auth Credentials", *match.span("value")
    for match in _ADDRESS_TOKEN.finditer(text):
        if is_random(match["value"]):
            yield "Basic Auth Credentials", *match.span("value")


def _logins(text: str) -> _Found:
    for match in _LOGIN.finditer(text):
        name = match.lastgroup or ""
        if is_password(match[name], set_by_name=True):
            yield "Password", *match.span(name)


def _aws_secrets(text: str) -> _Found:
    """What stands beside an access key and has the shape of its secret."""
    if not any(beginning in text for beginning in ("AKIA", "ASIA")):
        return
    keys = [match.end() for match in re.finditer(r"A[KS]IA[A-Z0-9]{16}", text)]
    for match in _AWS_SECRET.finditer(text):
        near = bisect.bisect_right(keys, match.start()) - 1
        value = match.group()
        if (
            near >= 0
            and match.start() - keys[near] <= _AWS_NEAR
            and is_random(value)
            and value.lower() != value
        ):
            yield "AWS Secret Key", *match.span()


_RULES: tuple[Callable[[str], _Found], ...] = (
    _shapes,
    _private_keys,
    _named,
    _said,
    _beside,
    _headers,
    _addresses,
    _logins,
    _aws_secrets,
)
