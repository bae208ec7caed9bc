"""Where an Ollama server is, from what OLLAMA_HOST may hold."""

import pytest

from rag_core.embedding.address import server_address
from rag_core.errors import InvalidInput


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("", "http://127.0.0.1:11434"),
        ("  ", "http://127.0.0.1:11434"),
        (":56789", "http://127.0.0.1:56789"),
        ("localhost", "http://localhost:11434"),
        ("1.2.3.4:56789", "http://1.2.3.4:56789"),
        ("example.com/", "http://example.com:11434"),
        ("example.com:8080/ollama/", "http://example.com:8080/ollama"),
        ("http://example.com", "http://example.com:80"),
        ("https://example.com", "https://example.com:443"),
        ("HTTPS://example.com:56789/path", "https://example.com:56789/path"),
        ("0.0.0.0", "http://127.0.0.1:11434"),
        ("http://0.0.0.0:11434", "http://127.0.0.1:11434"),
        ("[::]:11434", "http://[::1]:11434"),
        ("[2001:db8::1]", "http://[2001:db8::1]:11434"),
        (' "gpu.lan:11434" ', "http://gpu.lan:11434"),
        ("http://user:secret@gpu.lan:1234?a=b", "http://gpu.lan:1234"),
    ],
)
def test_every_form_that_ollama_takes_becomes_one_address(host: str, address: str) -> None:
    assert server_address(host) == address
    assert server_address(address) == address


@pytest.mark.parametrize(
    "host", ["ftp://gpu.lan", "unix:///run/ollama", "gpu.lan:port", "gpu.lan:99999", "http://[::1", "a b"]
)
def test_what_is_no_address_is_refused_by_the_variables_name(host: str) -> None:
    with pytest.raises(InvalidInput, match="OLLAMA_HOST") as refusal:
        server_address(host)
    assert "127.0.0.1:11434" in refusal.value.hint
