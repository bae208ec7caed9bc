"""Tokens that are known by their shape: what they begin with, and which signs follow, as their makers publish it.

A rule is a literal beginning and the pattern of what follows. The beginning must not stand inside a longer word, and no
pattern can be entered twice over the same signs, so that the time for a text grows with its length and no faster.
"""

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType

_ALNUM = "[A-Za-z0-9]"
_WORD = "[A-Za-z0-9_-]"
_HEX = "[0-9a-f]"

# by what a person would call it: the beginnings, each with the pattern of the rest
_SHAPES: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "Medir Token": {"medir_": f"{_HEX}{{12}}_{_WORD}{{43}}"},
        "AWS Access Key": dict.fromkeys(("AKIA", "ASIA", "ABIA", "ACCA"), "[A-Z0-9]{16}(?![A-Za-z0-9])"),
        "GitHub Token": {
            **dict.fromkeys(("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), f"{_ALNUM}{{36,255}}"),
            "github_pat_": "[A-Za-z0-9_]{36,255}",
        },
        "GitLab Token": dict.fromkeys(
            (
                "glpat-",
                "gldt-",
                "glrt-",
                "glptt-",
                "glft-",
                "glsoat-",
                "glcbt-",
                "glimt-",
                "gloas-",
                "glagent-",
            ),
            f"{_WORD}{{20,255}}(?:\\.{_WORD}{{2,40}})*",
        ),
        "Google API Key": {"AIza": f"{_WORD}{{35}}"},
        "Google OAuth Token": {"ya29.": f"{_WORD}{{20,}}", "GOCSPX-": f"{_WORD}{{28}}"},
        "Anthropic API Key": {"sk-ant-": f"{_WORD}{{20,}}"},
        "OpenAI API Key": {
            **dict.fromkeys(("sk-proj-", "sk-svcacct-", "sk-admin-", "sk-None-"), f"{_WORD}{{20,}}"),
            "sk-": f"{_ALNUM}{{32,}}",
        },
        "AI Provider Key": {
            "sk-or-v1-": f"{_HEX}{{64}}",
            "gsk_": f"{_ALNUM}{{40,}}",
            "pplx-": f"{_ALNUM}{{40,}}",
            "xai-": f"{_ALNUM}{{60,}}",
            "r8_": f"{_ALNUM}{{37}}",
            "hf_": f"{_ALNUM}{{34}}",
            "api_org_": f"{_ALNUM}{{34}}",
            "nvapi-": f"{_WORD}{{40,}}",
        },
        "Slack Token": {
            **dict.fromkeys(
                (
                    "xoxb-",
                    "xoxa-",
                    "xoxp-",
                    "xoxr-",
                    "xoxs-",
                    "xoxo-",
                    "xoxe-",
                    "xoxc-",
                    "xoxd-",
                    "xoxe.xoxp-",
                ),
                "[A-Za-z0-9%-]{10,}",
            ),
            "xapp-": "[0-9]-[A-Z0-9]{8,}-[A-Za-z0-9-]{10,}",
        },
        "Webhook Address": {
            "hooks.slack.com/services/": "[A-Z0-9]{6,}/[A-Z0-9]{6,}/[A-Za-z0-9]{16,}",
            "discord.com/api/webhooks/": f"[0-9]{{10,}}/{_WORD}{{40,}}",
            "discordapp.com/api/webhooks/": f"[0-9]{{10,}}/{_WORD}{{40,}}",
        },
        "Stripe Access Key": dict.fromkeys(
            ("sk_live_", "sk_test_", "rk_live_", "rk_test_", "whsec_"), "[A-Za-z0-9+/]{16,}"
        ),
        "Package Registry Token": {
            "npm_": f"{_ALNUM}{{36}}",
            "pypi-": f"{_WORD}{{50,}}",
            "rubygems_": f"{_HEX}{{48}}",
            "dckr_pat_": f"{_WORD}{{27}}",
            "dckr_oat_": f"{_WORD}{{27,}}",
            "AKCp": f"{_ALNUM}{{60,}}",
            "cio": f"{_ALNUM}{{32}}(?![A-Za-z0-9])",
        },
        "Vault Token": dict.fromkeys(("hvs.", "hvb.", "hvr."), f"{_WORD}{{24,}}"),
        "DigitalOcean Token": dict.fromkeys(("dop_v1_", "doo_v1_", "dor_v1_"), f"{_HEX}{{64}}"),
        "Cloud Token": {
            "sbp_": f"{_HEX}{{40}}",
            "sb_secret_": f"{_WORD}{{20,}}",
            "pul-": f"{_HEX}{{40}}",
            "tskey-": f"[a-z]{{2,12}}-{_WORD}{{16,}}",
            "dapi": f"{_HEX}{{32}}(?![0-9a-zA-Z])",
            "fo1_": f"{_WORD}{{40,}}",
            "fm2_": "[A-Za-z0-9+/=]{40,}",
            "HRKU-": f"{_WORD}{{36,}}",
            **dict.fromkeys(("pscale_tkn_", "pscale_pw_", "pscale_oauth_"), "[A-Za-z0-9_.=-]{32,}"),
            "dp.pt.": f"{_ALNUM}{{40,}}",
            "dp.st.": "[A-Za-z0-9._-]{40,}",
            "vercel_blob_rw_": "[A-Za-z0-9_]{20,}",
            "LTAI": f"{_ALNUM}{{16,20}}(?![A-Za-z0-9])",
        },
        "Service Token": {
            "SG.": f"{_WORD}{{16,32}}\\.{_WORD}{{30,64}}",
            "key-": f"{_HEX}{{32}}(?![0-9a-zA-Z])",
            "SK": f"{_HEX}{{32}}(?![0-9a-zA-Z])",
            **dict.fromkeys(("shpat_", "shpca_", "shppa_", "shpss_"), "[0-9a-fA-F]{32}"),
            **dict.fromkeys(("sq0atp-", "sq0csp-", "sq0idp-"), f"{_WORD}{{22,}}"),
            "EAAA": f"{_WORD}{{56,}}",
            "lin_api_": f"{_ALNUM}{{32,}}",
            "ntn_": f"{_ALNUM}{{40,}}",
            "secret_": f"{_ALNUM}{{43}}(?![A-Za-z0-9])",
            "figd_": f"{_WORD}{{40,}}",
            "PMAK-": f"{_HEX}{{24}}-{_HEX}{{34}}",
            "NRAK-": "[A-Z0-9]{27}",
            "glsa_": f"{_ALNUM}{{32}}_[0-9A-Fa-f]{{8}}",
            "glc_": "[A-Za-z0-9+/=]{32,}",
            "sntrys_": "[A-Za-z0-9+/=_]{40,}",
            "sntryu_": f"{_HEX}{{64}}",
            "ATATT3": "[A-Za-z0-9_=-]{50,}",
            "ATBB": f"{_ALNUM}{{32}}",
            "CFPAT-": f"{_WORD}{{43}}",
            "tfp_": f"{_WORD}{{40,}}",
            "CCIPAT_": "[A-Za-z0-9_]{40,}",
            "lsv2_pt_": f"{_HEX}{{32}}_{_HEX}{{10}}",
            "lsv2_sk_": f"{_HEX}{{32}}_{_HEX}{{10}}",
            "phc_": f"{_ALNUM}{{40,}}",
            "phx_": f"{_ALNUM}{{40,}}",
            "APP_USR-": f"[0-9]{{10,}}-[0-9]{{6}}-{_HEX}{{32}}-[0-9]{{5,}}",
            "$aact_": "[A-Za-z0-9_:=-]{40,}",
            "ops_": "eyJ[A-Za-z0-9_=-]{100,}",
            "EZAK": f"{_HEX}{{20,}}",
        },
        "Age Secret Key": {"AGE-SECRET-KEY-1": "[0-9A-Z]{58}"},
        "JSON Web Token": {"eyJ": f"{_WORD}{{8,}}\\.eyJ{_WORD}{{8,}}\\.{_WORD}*"},
        "Encrypted Token": {
            "eyJ": f"{_WORD}{{16,}}\\.{_WORD}*\\.{_WORD}{{8,}}\\.{_WORD}{{8,}}\\.{_WORD}{{8,}}"
        },
    }
)


def _compiled() -> Iterator[tuple[str, str, re.Pattern[str]]]:
    for kind, shapes in _SHAPES.items():
        for beginning, rest in shapes.items():
            # a pattern that begins with a literal is looked for at the speed of a search for it
            literal = re.escape(beginning)
            # many beginnings in a row must not each read to the end of the row
            inside = "[A-Za-z0-9_-]" if beginning == "eyJ" else "[A-Za-z0-9]"
            yield kind, beginning, re.compile(f"{literal}(?<!{inside}{literal}){rest}")


RULES: tuple[tuple[str, str, re.Pattern[str]], ...] = tuple(_compiled())
"""What it is, what it begins with, and the pattern of all of it."""

OTHER_RULES: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("Telegram Bot Token", re.compile(r"(?<![0-9A-Za-z_:])[0-9]{8,10}:AA[A-Za-z0-9_-]{33}(?![A-Za-z0-9_-])")),
    (
        "Discord Bot Token",
        re.compile(r"(?<![A-Za-z0-9_.-])[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}"),
    ),
    ("Mailchimp Key", re.compile(r"(?<![0-9A-Za-z])[0-9a-f]{32}-us[0-9]{1,2}(?![0-9])")),
    ("Terraform Token", re.compile(r"(?<![A-Za-z0-9])[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,70}")),
)
"""Tokens without a beginning of their own."""
