"""Languages in sentences: which there are, and of an index that was made in another one. Pure."""

from rag_core.model.languages import LANGUAGES, language_of

LISTED = ", ".join(
    f"{language} ({', '.join(codes)})" if codes else language for language, codes in LANGUAGES.items()
)
"""All languages with their codes: `arabic (ar), …`."""


def told_unknown(asked: str) -> str:
    """That a document's own language is none, and which it has instead."""
    return f"{asked!r} is no language whose words can be searched; the project's language is used"


def told_words(made: str, wanted: str) -> str | None:
    """Why the words of an index must be made anew, None where they need not.

    Args:
        made: The text search configuration that the index has, with its version.
        wanted: The one that a run would give it now.
    """
    if made == wanted:
        return None
    if language_of(made) != language_of(wanted):
        return (
            f"The index was made in another language: in {language_of(made)}, and the project's language is "
            f"{language_of(wanted)} now."
        )
    return "The words of the index were cut by another version of Medir than this one."
