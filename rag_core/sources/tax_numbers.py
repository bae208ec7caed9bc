"""CPF and CNPJ numbers in a text, known by their check digits."""

import re
from collections.abc import Iterator, Sequence

_CPF = re.compile(
    r"(?<![0-9A-Za-z./-])[0-9]{3}(?P<dot>\.?)[0-9]{3}(?P=dot)[0-9]{3}-?[0-9]{2}(?![0-9A-Za-z-])"
)
# since July 2026 the first twelve signs may be letters
_CNPJ = re.compile(
    r"(?<![0-9A-Za-z./-])(?:[0-9A-Z]{2}\.[0-9A-Z]{3}\.[0-9A-Z]{3}/[0-9A-Z]{4}-[0-9]{2}|[0-9]{14})(?![0-9A-Za-z-])"
)


def find_tax_numbers(text: str) -> Iterator[tuple[str, int, int]]:
    """What each is, its beginning and its end."""
    for match in _CPF.finditer(text):
        digits = [int(sign) for sign in match.group() if sign.isdigit()]
        if len(set(digits)) > 1 and _ends_in_its_checks(digits, (range(10, 1, -1), range(11, 1, -1))):
            yield "CPF", *match.span()
    for match in _CNPJ.finditer(text):
        values = [ord(sign) - ord("0") for sign in match.group() if sign.isalnum()]
        weights = [*range(6, 1, -1), *range(9, 1, -1)]
        if len(set(values)) > 1 and _ends_in_its_checks(values, (weights[1:], weights)):
            yield "CNPJ", *match.span()


def _ends_in_its_checks(values: Sequence[int], weights: Sequence[Sequence[int]]) -> bool:
    """Whether the last two digits are the sums of those before them, weighted, modulo 11."""
    for place, factors in zip((-2, -1), weights, strict=True):
        rest = sum(value * factor for value, factor in zip(values[:place], factors, strict=True)) % 11
        if values[place] != (0 if rest < 2 else 11 - rest):
            return False
    return True
