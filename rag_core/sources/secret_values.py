"""Whether what stands where a secret would stand is one: no placeholder, no name of something else, no word."""

import re

_WORD_OF_PLACEHOLDER = re.compile(
    r"example|exemplo|placeholder|change[_-]?me|troque|your[_-]|[_-]your|\byour|yourtoken|"
    r"seu[_-]|sua[_-]|<|>|\$\{|\$\(|\{\{|\}\}|%\(|\[masked|redacted|dummy|"
    r"insira|insert|replace[_-]?|fixme|process\.env|environ|getenv|secrets\.|vault:|op://|\.\.\.|…|xxx|\*\*\*|•••",
    re.IGNORECASE,
)
_SAID_OF_A_SECRET = frozenset(
    """password passwd passw0rd passphrase pass pwd senha secret segredo token string str text test teste none null true
    false required optional hidden masked input value valor user usuario root admin postgres localhost any unknown
    bearer basic jwt oauth2 apikey api_key bytes undefined empty default""".split()  # noqa: SIM905
)
# names of something else: a variable, an attribute, a call, a file, a constant, an item of a list
_NAME = re.compile(
    r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+"  # settings.token
    r"|[A-Za-z_][\w.]*[\[(].*"  # get_token( or form[
    r"|[a-z]+[0-9]?(?:_[a-z0-9]+)+"  # access_token
    r"|[a-z]+(?:-[a-z]+)+"  # db-credentials
    r"|[a-z]+(?:[A-Z][a-z]+)+|(?:[A-Z][a-z]+)+"  # accessToken, SecretStr
    r"|[A-Z]+[0-9]?(?:_[A-Z0-9]+)+"  # DB_PASSWORD
    r"|(?:\./|\.\./|~/|/[a-z]+/|[A-Za-z]:\\).*"  # a path
    r"|[\w.-]+\.(?:ya?ml|json|toml|env|txt|md|py|js|ts|pem|key|crt|sh|sql)"
    r"|[a-z][a-z0-9+.-]{1,15}://.*"  # an address
    r"|\$[A-Za-z_]\w*|%\w+%|[!&*@][A-Za-z_/]+|[|{\[(\\].*"  # $TOKEN, %TOKEN%, !vault
    r"|\$[0-9a-z]{1,10}\$.*",  # a hash of a password
    re.DOTALL,
)
_NUMBERED = re.compile(
    r"[A-Z]{1,6}[0-9]{0,4}(?:[-./_][A-Z0-9]{1,8})+"  # a SKU, a rule
    r"|v?[0-9]+(?:[.,:/-][0-9]+)+\w{0,6}"  # a version, a date, a range
    r"|[0-9]+[A-Za-zçãéí]{1,12}",  # 90dias
)
_CASE_CHANGE = re.compile(r"[a-z](?=[A-Z])|[A-Z](?=[a-z])")
_WORD_WITH_NUMBER = re.compile(r"[A-Za-z]{2,12}[-_]?[0-9]{1,4}(?:[-_.][A-Za-z]{2,})?")


def is_placeholder(value: str) -> bool:
    """Whether it stands for a secret that somebody else is to fill in, or is said about one.

    Examples:
        >>> is_placeholder("<your-token>"), is_placeholder("xxxxxxxx"), is_placeholder("k3Yw9qLm")
        (True, True, False)
    """
    return (
        len(set(value)) <= 3
        or value.lower().strip("_-.!") in _SAID_OF_A_SECRET
        or _WORD_OF_PLACEHOLDER.search(value) is not None
    )


def is_password(value: str, *, set_by_name: bool) -> bool:
    """Whether it can be a password: no placeholder, no name, no bare word.

    `value` follows the word and its sign. `set_by_name`: it follows a variable in capitals and `=`, as in
    `PGPASSWORD=…`, where also a bare word is one.
    """
    if len(value) < 5:
        return False
    if value.isdigit():
        return 6 <= len(value) <= 12 and len(set(value)) > 3
    mixed = any(map(str.isalpha, value)) and any(not sign.isalpha() and sign not in "-_.'’" for sign in value)
    if not mixed and not (set_by_name and len(value) >= 6):
        return False
    return not (_NAME.fullmatch(value) or _NUMBERED.fullmatch(value) or is_placeholder(value))


def is_random(value: str) -> bool:
    """Whether it can be a token or a key: long, of letters and digits, and no placeholder, name, word or number."""
    if len(value) < 8 or not any(map(str.isalpha, value)):
        return False
    # a word changes between small letters and capitals now and then, what is drawn at random all the time
    if not any(map(str.isdigit, value)) and not (len(value) >= 20 and len(_CASE_CHANGE.findall(value)) >= 5):
        return False
    return not (
        _NAME.fullmatch(value)
        or _NUMBERED.fullmatch(value)
        or _WORD_WITH_NUMBER.fullmatch(value)
        or is_placeholder(value)
    )
