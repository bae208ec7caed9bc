"""Which names and addresses mean this machine."""

import pytest

from medir.local import is_local_host_header, is_loopback


@pytest.mark.parametrize("address", ["127.0.0.1", "127.9.9.9", "::1", "localhost", "LOCALHOST", "localhost."])
def test_a_loopback_address_reaches_this_machine_alone(address: str) -> None:
    assert is_loopback(address)


@pytest.mark.parametrize(
    "address",
    ["", "0.0.0.0", "::", "192.0.2.1", "localhost.example.org", "127.0.0.1.example.org", "testclient"],
)
def test_everything_else_does_not(address: str) -> None:
    assert not is_loopback(address)


@pytest.mark.parametrize(
    "host", ["localhost", "localhost:8501", "127.0.0.1:1", "[::1]", "[::1]:8501", "LocalHost:80"]
)
def test_a_host_header_may_name_it_with_any_port(host: str) -> None:
    assert is_local_host_header(host)


@pytest.mark.parametrize(
    "host",
    ["", ":8501", "evil.example", "evil.example:127", "[::1", "[::1].example", "localhost.evil.example:80"],
)
def test_a_host_header_that_names_another_is_not_local(host: str) -> None:
    assert not is_local_host_header(host)
