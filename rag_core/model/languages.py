"""The languages whose words can be searched: text search configurations of PostgreSQL, and what people call them. Pure.

A language decides how a text's words are cut, stemmed and left out. A project has one; a document may say another one
in its front matter (`lang: en`); each chunk keeps that of its document.
"""

import re
from collections.abc import Mapping
from types import MappingProxyType

LANGUAGES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "arabic": ("ar",),
        "armenian": ("hy",),
        "basque": ("eu",),
        "catalan": ("ca",),
        "danish": ("da",),
        "dutch": ("nl",),
        "english": ("en",),
        "finnish": ("fi",),
        "french": ("fr",),
        "german": ("de",),
        "greek": ("el",),
        "hindi": ("hi",),
        "hungarian": ("hu",),
        "indonesian": ("id",),
        "irish": ("ga",),
        "italian": ("it",),
        "lithuanian": ("lt",),
        "nepali": ("ne",),
        "norwegian": ("no", "nb", "nn"),
        "portuguese": ("pt",),
        "romanian": ("ro",),
        "russian": ("ru",),
        "serbian": ("sr",),
        "simple": (),
        "spanish": ("es",),
        "swedish": ("sv",),
        "tamil": ("ta",),
        "turkish": ("tr",),
        "yiddish": ("yi",),
    }
)
"""Each configuration with its ISO 639-1 codes; `simple`, which takes words as they are, has none."""

DEFAULT_LANGUAGE = "portuguese"

# raised whenever the same text would be cut into other words
_WORDS_VERSION = "2"

_BY_CODE = {code: language for language, codes in LANGUAGES.items() for code in codes}
# a language tag (pt-BR), or a locale (en_GB.UTF-8)
_TAG = re.compile(r"([a-z]{2})(?:[-_.@][a-z0-9-_.@]+)?")


def language_meant(text: str) -> str | None:
    """The language of that name or code, in any case and of any region; None where it is none of them.

    Examples:
        >>> language_meant("English"), language_meant("pt-BR"), language_meant("tlh")
        ('english', 'portuguese', None)
    """
    named = text.strip().lower()
    if named in LANGUAGES:
        return named
    tag = _TAG.fullmatch(named)
    return _BY_CODE.get(tag[1]) if tag else None


def text_search_config(language: str) -> str:
    """What an index's words are made by: the language and the version of their cutting, e.g. `portuguese+2`."""
    return f"{language}+{_WORDS_VERSION}"


def language_of(config: str) -> str:
    """The language of a `text_search_config`; those of early indexes are nothing but that."""
    return config.partition("+")[0]
