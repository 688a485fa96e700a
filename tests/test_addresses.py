"""The guard on addresses: what is refused reaches no server, by name, by redirect or by what a name leads to."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import Iterator
from typing import Any

import httpcore
import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from loopback import PUBLIC, Dial, Site, public_network, serve_site

from lifesearch_kit.errors import ToolError
from lifesearch_kit.tools import addresses
from lifesearch_kit.tools.addresses import Target, check_address, is_public, target_of
from lifesearch_kit.tools.direct import download
from lifesearch_kit.tools.guarded_network import GuardedNetwork, resolve

# {port} is a live server on this machine; whoever is let through leaves a visit there.
HOSTILE = [
    "http://127.0.0.1:{port}/",
    "http://localhost:{port}/",
    "http://LOCALHOST:{port}/",
    "http://localhost.:{port}/",
    "http://localhost.localdomain:{port}/",
    "http://any.localhost:{port}/",
    "http://127.1:{port}/",
    "http://127.0.1:{port}/",
    "http://2130706433:{port}/",
    "http://0x7f000001:{port}/",
    "http://0x7f.0.0.1:{port}/",
    "http://0x7f.1:{port}/",
    "http://0177.0.0.1:{port}/",
    "http://017700000001:{port}/",
    "http://127.0.0.1.:{port}/",
    "http://127.0.0.1..:{port}/",
    "http://127.255.255.254:{port}/",
    "http://0.0.0.0:{port}/",
    "http://0:{port}/",
    "http://[::1]:{port}/",
    "http://[::]:{port}/",
    "http://[0:0:0:0:0:0:0:1]:{port}/",
    "http://[::ffff:127.0.0.1]:{port}/",
    "http://[::ffff:7f00:1]:{port}/",
    "http://[::127.0.0.1]:{port}/",
    "http://[64:ff9b::7f00:1]:{port}/",
    "http://[64:ff9b:1::7f00:1]:{port}/",
    "http://[2002:7f00:1::]:{port}/",
    "http://[2001:0:7f00:1::1]:{port}/",
    "http://[2606:4700::5efe:7f00:1]:{port}/",
    "http://[fe80::1]:{port}/",
    "http://[fe80::1%25lo]:{port}/",
    "http://[fec0::1]:{port}/",
    "http://[fd00:ec2::254]:{port}/",
    "http://[ff02::1]:{port}/",
    "http://[3fff::1]:{port}/",
    "http://[::1].pages.example:{port}/",
    "http://[2606:4700::1111]127.0.0.1:{port}/",
    "http://１２７.０.０.１:{port}/",
    "http://127。0。0。1:{port}/",
    "http://127｡0｡0｡1:{port}/",
    "http://①②⑦.⓪.⓪.①:{port}/",
    "http://ｌｏｃａｌｈｏｓｔ:{port}/",
    "http://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ.:{port}/",
    "http://any.local\u00adhost:{port}/",
    "http://any.localhost。:{port}/",
    "http://127%2e0%2e0%2e1:{port}/",
    "http://127.0.0.1%00.pages.example:{port}/",
    "http://user@127.0.0.1:{port}/",
    "http://pages.example@127.0.0.1:{port}/",
    "http://pages.example:80@127.0.0.1:{port}/",
    "http://127.0.0.1:{port}@pages.example/",
    "http://127.0.0.1:{port}\\@pages.example/",
    "http://pages.example\\@127.0.0.1:{port}/",
    "http://127.0.0.1:{port} @pages.example/",
    "http://127.0.0.1:{port}\t.pages.example/",
    "http://127.0.0.1:{port}\n/",
    "http:/\\127.0.0.1:{port}/",
    "http:///127.0.0.1:{port}/",
    "//127.0.0.1:{port}/",
    "gopher://127.0.0.1:{port}/",
    "ftp://127.0.0.1:{port}/",
    "file:///etc/hosts",
    "data:text/html,hello",
    "http://169.254.169.254/latest/meta-data/",
    "http://169.254.170.2/",
    "http://100.100.100.200/",
    "http://168.63.129.16/",
    "http://192.0.0.192/",
    "http://metadata.google.internal/",
    "http://metadata/",
    "http://kubernetes.default.svc/",
    "http://1.2.3.4.5/",
    "http://pages.example.0x7f/",
    "http://10.0.0.1/",
    "http://172.31.255.255/",
    "http://192.168.0.1/",
    "http://198.18.0.1/",
    "http://192.88.99.1/",
    "http://240.0.0.1/",
    "http://255.255.255.255/",
    "http://224.0.0.1/",
]


@pytest.fixture
def site() -> Iterator[Site]:
    with serve_site() as served:
        served.paths["/"] = "<p>here</p>"
        yield served


@pytest.fixture
def canary(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """A live server whose port is among those that may be asked, so that nothing but the host keeps a caller away."""
    with serve_site() as served:
        served.paths["/"] = "inside"
        monkeypatch.setattr(addresses, "PORTS", {"http": served.port, "https": 443})
        yield served


def get(url: str, network: GuardedNetwork) -> Any:
    return asyncio.run(download(url, network))


def refused(url: str, network: GuardedNetwork) -> str:
    with pytest.raises(ToolError) as caught:
        get(url, network)
    return str(caught.value)


def test_there_are_enough_hostile_addresses() -> None:
    assert len(set(HOSTILE)) == len(HOSTILE) >= 70


@pytest.mark.parametrize("line", HOSTILE)
def test_hostile_addresses_reach_nobody(canary: Site, line: str) -> None:
    url = line.format(port=canary.port)
    dial = Dial(canary.port)
    # Once as in earnest, with this machine's resolver and real connections; once with a name server that knows all.
    refused(url, GuardedNetwork())
    refused(url, GuardedNetwork(resolve, dial))
    with pytest.raises(ToolError):
        check_address(url)
    assert (canary.visits, dial.dialled) == ([], [])


def test_the_canary_would_answer_an_unguarded_client(canary: Site) -> None:
    asked = [f"http://{host}:{canary.port}/" for host in ("127.0.0.1", "2130706433", "0x7f.1", "127.1", "localhost")]
    assert [httpx.get(url, trust_env=False).text for url in asked] == ["inside"] * 5
    assert len(canary.visits) == 5


INSIDE = [
    "0.0.0.0",
    "10.255.255.255",
    "100.64.0.1",
    "127.0.0.1",
    "168.63.129.16",
    "169.254.169.254",
    "172.16.0.1",
    "192.0.0.8",
    "192.168.1.1",
    "198.19.0.1",
    "203.0.113.9",
    "224.0.0.251",
    "255.255.255.255",
    "::",
    "::1",
    "::ffff:10.0.0.1",
    "::8.8.8.8",
    "64:ff9b::c0a8:1",
    "64:ff9b:1::808:808",
    "100::1",
    "2001:0:4136:e378::1",
    "2001:2::1",
    "2001:db8::1",
    "2002:808:808::1",
    "3fff::1",
    "5f00::1",
    "fc00::1",
    "fd12::1",
    "fe80::1",
    "fe80::1%1",
    "fec0::1",
    "ff02::1",
    "2606:4700::5efe:a00:1",
    "2606:4700::200:5efe:7f00:1",
]


@pytest.mark.parametrize("address", INSIDE)
def test_names_that_lead_inside_are_refused_unasked(site: Site, address: str) -> None:
    network, dial = public_network(site, {"inside.example": [address], "mixed.example": [PUBLIC, address]})
    for host in ("inside.example", "mixed.example"):
        assert "not on the public internet" in refused(f"http://{host}/", network)
    assert (dial.dialled, site.visits) == ([], [])


@pytest.mark.parametrize("address", [PUBLIC, "8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"])
def test_names_that_lead_outside_are_reached_at_the_checked_address(site: Site, address: str) -> None:
    network, dial = public_network(site, {"pages.example": [address]})
    assert get("http://pages.example/", network).data == b"<p>here</p>"
    assert dial.dialled == [(str(ipaddress.ip_address(address)), 80)]
    assert site.visits[0][0] == "pages.example"


def test_a_name_is_looked_up_once_for_each_connection(site: Site) -> None:
    answers = [[PUBLIC], ["127.0.0.1"], ["127.0.0.1"]]
    asked: list[str] = []

    async def rebinding(host: str, port: int) -> list[str]:
        asked.append(host)
        return answers.pop(0)

    dial = Dial(site.port)
    network = GuardedNetwork(rebinding, dial)
    assert get("http://pages.example/", network).data == b"<p>here</p>"
    assert (asked, dial.dialled) == (["pages.example"], [(PUBLIC, 80)])
    # The next connection meets the changed answer, and is not made.
    assert "not on the public internet" in refused("http://pages.example/", network)
    assert dial.dialled == [(PUBLIC, 80)]


def test_redirects_to_the_inside_are_not_followed(site: Site, canary: Site) -> None:
    network, dial = public_network(site, {"rebound.example": ["127.0.0.1"]})
    inside = [line.format(port=canary.port) for line in HOSTILE if "\t" not in line and "\n" not in line]
    start = f"http://pages.example:{canary.port}/"
    more = [f"http://rebound.example:{canary.port}/", "https://pages.example:8443/"]
    for number, target in enumerate([*inside, *more]):
        site.paths[f"/{number}"] = (302, {"Location": target.encode().decode("latin-1")}, "")
        said = refused(f"{start}{number}", network)
        # `http:///name` without a host is a path of the same site to a redirect, and is not there.
        assert any(words in said for words in ("redirects to", "not on the public internet", "names port", "HTTP 404"))
    assert canary.visits == []
    assert {address for address, _ in dial.dialled} == {PUBLIC}


def test_the_second_address_is_tried_when_the_first_does_not_answer(site: Site) -> None:
    class FirstIsDown(Dial):
        async def connect_tcp(self, host: str, port: int, *rest: Any, **named: Any) -> Any:
            if host == "8.8.8.8":
                self.dialled.append((host, port))
                raise httpcore.ConnectError
            return await super().connect_tcp(host, port)

    async def resolver(host: str, port: int) -> list[str]:
        return ["8.8.8.8", PUBLIC]

    dial = FirstIsDown(site.port)
    assert get("http://pages.example/", GuardedNetwork(resolver, dial)).data == b"<p>here</p>"
    assert dial.dialled == [("8.8.8.8", 80), (PUBLIC, 80)]


def test_certificates_are_asked_for_the_name_not_the_address() -> None:
    wanted: list[str | None] = []

    class Stream(httpcore.AsyncNetworkStream):
        async def start_tls(self, ssl_context: Any, server_hostname: str | None = None, timeout: Any = None) -> Any:
            wanted.append(server_hostname)
            assert ssl_context.check_hostname
            raise httpcore.ConnectError("no certificate")

        async def aclose(self) -> None:
            pass

    class Secure(Dial):
        async def connect_tcp(self, host: str, port: int, *_: Any) -> Any:
            self.dialled.append((host, port))
            return Stream()

    async def resolver(host: str, port: int) -> list[str]:
        return [PUBLIC]

    dial = Secure(0)
    assert "the connection failed" in refused("https://镇江.example/", GuardedNetwork(resolver, dial))
    assert (wanted, dial.dialled) == (["xn--9swp68f.example"], [(PUBLIC, 443)])


def test_proxies_of_the_environment_are_not_used(site: Site, canary: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, canary.url)
    network, _ = public_network(site)
    assert get(f"http://pages.example:{canary.port}/", network).data == b"<p>here</p>"
    assert canary.visits == []


@pytest.mark.parametrize("failed", [socket.EAI_AGAIN, socket.EAI_NONAME])
def test_a_silent_name_server_is_the_services_failure_and_an_unknown_name_is_not(
    failed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lookup(*_: Any, **__: Any) -> Any:
        raise socket.gaierror(failed, "told")

    monkeypatch.setattr(socket, "getaddrinfo", lookup)
    with pytest.raises(ToolError) as caught:
        asyncio.run(resolve("pages.example", 80))
    assert caught.value.service_failed == (failed == socket.EAI_AGAIN)


@pytest.mark.parametrize(
    ("url", "target"),
    [
        ("http://Pages.Example", Target("http", "pages.example", 80, "/")),
        ("https://pages.example/a?b=1#c", Target("https", "pages.example", 443, "/a?b=1")),
        ("https://pages.example./a", Target("https", "pages.example", 443, "/a")),
        ("http://pages.example:443/", Target("http", "pages.example", 443, "/")),
        (
            "https://镇江.example/公报?年=1",
            Target("https", "xn--9swp68f.example", 443, "/%E5%85%AC%E6%8A%A5?%E5%B9%B4=1"),
        ),
        ("http://8.8.8.8/%20/", Target("http", "8.8.8.8", 80, "/%20/")),
        ("http://[2606:4700::1111]/", Target("http", "2606:4700::1111", 80, "/")),
        ("http://my_host.pages.example/", Target("http", "my_host.pages.example", 80, "/")),
    ],
)
def test_what_is_requested_for_honest_addresses(url: str, target: Target) -> None:
    assert check_address(f" {url} ") == url
    assert target_of(url) == target


@pytest.mark.parametrize("port", [0, 22, 25, 81, 3306, 6379, 8080, 65535])
def test_other_ports_are_for_the_outside_reader_alone(port: int) -> None:
    url = f"http://pages.example:{port}/"
    assert check_address(url) == url
    with pytest.raises(ToolError, match=f"names port {port}; only 80 and 443"):
        target_of(url)


@given(st.ip_addresses())
def test_the_guard_is_no_laxer_than_the_standard_library(
    address: ipaddress.IPv4Address | ipaddress.IPv6Address,
) -> None:
    # Mapped and translated addresses, outside 2000::/3, count by the IPv4 address that they carry.
    if is_public(address) and (address.version == 4 or address in ipaddress.IPv6Network("2000::/3")):
        closed = ("private", "loopback", "link_local", "multicast", "reserved", "unspecified")
        assert [name for name in closed if getattr(address, f"is_{name}")] == []


@given(st.text(max_size=60) | st.builds("http://{}".format, st.text(max_size=60)))
def test_no_text_ends_otherwise_than_in_an_address_or_a_failure(text: str) -> None:
    try:
        assert check_address(text) == text.strip()
        assert target_of(text).path.isascii()
    except ToolError:
        return
