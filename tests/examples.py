"""How many examples a property is tried with, where it is not the number of the profile."""

from hypothesis import settings


def examples(number: int) -> int:
    """This number where the profile's is 100, and as much fewer as that is."""
    return max(1, number * settings.default.max_examples // 100)
