from __future__ import annotations

import gzip
import socket
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import trustme
from hypothesis import given
from hypothesis import strategies as st

from catalog.handlers_web import ALLOW_LOOPBACK, MAX_BYTES, fetch_url, reduce_html
from tests.support import ROOT, define, write_tree
from toolroster import Workspace
from toolroster.canonical import JsonObject, encode
from toolroster.runtime import Executor, HandlerContext, read_return
from toolroster.tools import ToolCall, ToolReportedError, ToolResult

TOOLS = ("fetch_url", "retrieve_tool_result")
PAGE = """<!doctype html><html><head><title>A &amp; B</title><style>p { color: red }</style>
<script>alert("x < y")</script></head><body><h1>Top</h1><p>One  <b>two</b>
three<br>four</p><ul><li>first</li><li><p>second</p></li></ul><p>See <a href="/there?a=1">the place</a>,
<a href="javascript:no()">nothing</a> and <a href="mailto:x@example.org">mail</a>.</p><pre>  a
    b</pre><table><tr><th>x</th><th>y</th></tr><tr><td>1</td><td>2</td></tr></table></body></html>
"""
Answer = Callable[[BaseHTTPRequestHandler], None]


class Site:
    """A web server on this machine, and the requests that it got."""

    def __init__(self, answers: Mapping[str, Answer], context: ssl.SSLContext | None = None) -> None:
        """Answer each path as it says."""
        self.requests: list[str] = []
        self.closing = threading.Event()
        site = self

        class Requests(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                site.requests.append(self.path)
                answers[self.path.partition("?")[0]](self)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class calls it so
                """Say nothing."""

        class Server(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, request: object, client_address: object) -> None:
                """Say nothing: some clients are made to leave in the middle."""

        self._server = Server(("127.0.0.1", 0), Requests)
        if context is not None:
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self.port = self._server.server_port
        self.url = f"http{'s' if context else ''}://127.0.0.1:{self.port}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()

    def close(self) -> None:
        """Stop, and let answers that wait go on."""
        self.closing.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


def say(body: str | bytes, kind: str | None = "text/plain", status: int = 200, **headers: str) -> Answer:
    """Return the answer with this body."""
    data = body.encode() if isinstance(body, str) else body

    def answer(request: BaseHTTPRequestHandler) -> None:
        request.send_response(status)
        for name, value in headers.items():
            request.send_header(name.replace("_", "-"), value)
        if kind is not None:
            request.send_header("Content-Type", kind)
        request.send_header("Content-Length", str(len(data)))
        request.end_headers()
        request.wfile.write(data)

    return answer


def send_to(location: str, status: int = 302) -> Answer:
    """Return the answer that redirects."""
    return say("", status=status, Location=location)


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Site]]:
    """Return what makes servers that end with the test; this machine's own addresses may be fetched."""
    monkeypatch.setenv(ALLOW_LOOPBACK, "1")
    sites: list[Site] = []

    def start(answers: Mapping[str, Answer], context: ssl.SSLContext | None = None) -> Site:
        sites.append(Site(answers, context))
        return sites[-1]

    yield start
    for site in sites:
        site.close()


def resolve_to_loopback(monkeypatch: pytest.MonkeyPatch, name: str) -> list[str]:
    """Let a name mean this machine; return the list of the names and addresses that will be asked for."""
    resolve, asked = socket.getaddrinfo, list[str]()

    def answer(host: str, port: int, family: int = 0, type: int = 0) -> object:  # noqa: A002 - the function's own names
        asked.append(host)
        return resolve("127.0.0.1" if host == name else host, port, family, type)

    monkeypatch.setattr(socket, "getaddrinfo", answer)
    return asked


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """Return a small workspace that can fetch pages."""
    files: dict[str, object] = {f"catalog/{path.name}": path.read_bytes() for path in (ROOT / "catalog").glob("*.py")}
    files |= {f"catalog/builtin/{name}.json": (ROOT / f"catalog/builtin/{name}.json").read_bytes() for name in TOOLS}
    files["policy/roster.toml"] = f'schema = 1\nversion = "1.0.0"\n[roster]\nactive = {encode([*TOOLS]).decode()}\n'
    return Workspace(write_tree(tmp_path_factory.mktemp("workspace"), files))


@pytest.fixture
def executor(workspace: Workspace, tmp_path: Path) -> Executor:
    """Return what runs the tools in an empty root of the test's own."""
    return workspace.executor(root=tmp_path)


def fetch(executor: Executor, url: str, **arguments: object) -> JsonObject:
    """Return the structured result of a fetch that succeeds."""
    result = run(executor, url, **arguments)
    assert result.code is None, result.content
    assert isinstance(result.structured, dict)
    return result.structured


def run(executor: Executor, url: str, **arguments: object) -> ToolResult:
    """Return the result of a fetch."""
    return executor.execute_sync(ToolCall("fetch_url", {"url": url, **arguments}, "call-7"))


def problem(executor: Executor, url: str, **arguments: object) -> str:
    """Return what the tool says of an address that it can't fetch."""
    result = run(executor, url, **arguments)
    assert "tool_error" == result.code
    return str(result.content)


# ------------------------------------------------------------------------------------------------------------ pages


def test_a_page_is_returned_with_its_address_and_status(executor: Executor, serve: Callable[..., Site]) -> None:
    """The text is the body; the model reads address and status before it."""
    site = serve({"/it": say("hello", "text/plain; charset=utf-8")})
    result = run(executor, f"{site.url}/it")
    expected = {
        "url": f"{site.url}/it",
        "status": 200,
        "content_type": "text/plain",
        "text": "hello",
        "total_chars": 5,
        "truncated": False,
    }
    assert expected == result.structured
    assert f"{site.url}/it\n200 text/plain\n\nhello" == result.content


def test_an_html_page_is_reduced_to_markdown(executor: Executor, serve: Callable[..., Site]) -> None:
    """Headings, lists, code and links stay; scripts and styles go; other links lose their target."""
    site = serve({"/": say(PAGE, "text/html; charset=utf-8")})
    expected = (
        "A & B\n\n# Top\n\nOne two three\nfour\n\n- first\n- second\n\n"
        f"See [the place]({site.url}/there?a=1), nothing and mail.\n\n```\n  a\n    b\n```\n\nx | y\n1 | 2"
    )
    assert expected == fetch(executor, site.url)["text"]


def test_an_html_page_is_reduced_to_text_or_left_as_it_is(executor: Executor, serve: Callable[..., Site]) -> None:
    """`format` is the model's choice."""
    site = serve({"/": say(PAGE, "text/html")})
    expected = (
        "A & B\n\nTop\n\nOne two three\nfour\n\n- first\n- second\n\nSee the place, nothing and mail.\n\n"
        "  a\n    b\n\nx | y\n1 | 2"
    )
    assert expected == fetch(executor, site.url, format="text")["text"]
    assert PAGE == fetch(executor, site.url, format="raw")["text"]


def test_a_page_that_says_not_found_is_a_page(executor: Executor, serve: Callable[..., Site]) -> None:
    """The model judges the status."""
    site = serve({"/": say("gone", status=404)})
    found = fetch(executor, site.url)
    assert (404, "gone") == (found["status"], found["text"])


@pytest.mark.parametrize(
    ("body", "kind", "expected"),
    [
        ("é".encode("latin-1"), "text/plain; charset=iso-8859-1", "é"),
        ("é".encode("latin-1"), "text/plain; charset=no-such", "\ufffd"),
        (b"\xff", "text/plain", "\ufffd"),
        ("\ufeffé".encode(), "application/json", "é"),
        (b'<meta charset="iso-8859-1"><p>\xe9', "text/html", "é"),
        (b"+2AA-", "text/plain; charset=utf-7", "?"),
        (b"text", None, "text"),
        (b"a", "text/plain; charset=hex", "a"),
    ],
)
def test_a_text_is_decoded_as_it_says(
    executor: Executor, serve: Callable[..., Site], body: bytes, kind: str | None, expected: str
) -> None:
    """The header's word comes before the page's; what can't be decoded never fails the call."""
    assert expected == fetch(executor, serve({"/": say(body, kind)}).url)["text"]


@pytest.mark.parametrize(("body", "kind"), [(b"\x89PNG", "image/png"), (b"a\0b", None), (b"%PDF", "application/pdf")])
def test_what_is_no_text_is_named(executor: Executor, serve: Callable[..., Site], body: bytes, kind: str | None) -> None:
    """Bytes would only fill the conversation."""
    said = problem(executor, serve({"/": say(body, kind)}).url)
    assert said.endswith(f"is {kind or 'binary data'} ({len(body)} bytes; status 200), no text.")


def test_an_address_in_any_script_is_asked_for_in_ascii(executor: Executor, serve: Callable[..., Site]) -> None:
    """Escapes that stand there already stay as they are; what follows `#` is the reader's."""
    site = serve({"/%C3%A9%20x": say("found")})
    assert "found" == fetch(executor, f"{site.url}/é%20x?q=ü&r=%2F#part")["text"]
    assert ["/%C3%A9%20x?q=%C3%BC&r=%2F"] == site.requests


# ----------------------------------------------------------------------------------------------------------- bounds


def test_a_long_text_is_cut_and_kept(executor: Executor, serve: Callable[..., Site]) -> None:
    """The result says under which id all of it is kept."""
    site = serve({"/": say("\n".join(f"line {n}" for n in range(1, 201)))})
    result = run(executor, site.url, max_chars=500)
    assert isinstance(result.structured, dict)
    assert (500, True) == (len(str(result.structured["text"])), result.structured["truncated"])
    more = f"[{int(str(result.structured['total_chars'])) - 500} more characters; retrieve_tool_result has all of them"
    assert str(result.content).endswith(f"\n{more} under the call id call-7]")
    again = executor.execute_sync(ToolCall("retrieve_tool_result", {"call_id": "call-7", "start_line": 199}))
    assert "199\tline 199\n200\tline 200" == again.content


def test_an_answer_without_end_is_cut(executor: Executor, serve: Callable[..., Site]) -> None:
    """No more than 2 MB are read, however much is sent."""

    def flood(request: BaseHTTPRequestHandler) -> None:
        request.send_response(200)
        request.send_header("Content-Type", "text/plain")
        request.end_headers()
        while True:
            request.wfile.write(b"x" * 65_536)

    found = fetch(executor, serve({"/": flood}).url, max_chars=500)
    assert (MAX_BYTES, True) == (found["total_chars"], found["truncated"])


def test_a_packed_answer_is_unpacked_within_the_bound(executor: Executor, serve: Callable[..., Site]) -> None:
    """A few bytes can hold any amount of text."""
    bomb = gzip.compress(b"x" * 50_000_000)
    site = serve(
        {
            "/small": say(gzip.compress(b"hello"), Content_Encoding="gzip"),
            "/bomb": say(bomb, Content_Encoding="gzip"),
            "/broken": say(b"hello", Content_Encoding="gzip"),
            "/other": say(b"hello", Content_Encoding="br"),
        }
    )
    assert "hello" == fetch(executor, f"{site.url}/small")["text"]
    assert MAX_BYTES == fetch(executor, f"{site.url}/bomb", max_chars=500)["total_chars"]
    assert "failed: error: " in problem(executor, f"{site.url}/broken")
    assert "answered in the encoding 'br', which was not asked for." in problem(executor, f"{site.url}/other")


@pytest.mark.parametrize("path", ["/silent", "/headers", "/trickle"])
def test_an_answer_that_takes_too_long_is_a_timeout(executor: Executor, serve: Callable[..., Site], path: str) -> None:
    """The whole fetch counts: a server that sends a byte now and then never resets the clock."""
    site: Site

    def trickle(request: BaseHTTPRequestHandler) -> None:
        if path != "/silent":
            request.wfile.write(b"HTTP/1.1 200 OK\r\n")
        if path == "/trickle":
            request.wfile.write(b"Content-Type: text/plain\r\n\r\n")
        while not site.closing.wait(0.05):
            if path != "/silent":
                request.wfile.write(b"x")

    site = serve({path: trickle})
    result = run(executor, f"{site.url}{path}", timeout_s=1)
    assert "timeout" == result.code


def test_a_handshake_that_takes_too_long_is_a_timeout(executor: Executor, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that takes the connection and says nothing."""
    monkeypatch.setenv(ALLOW_LOOPBACK, "1")
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        assert "timeout" == run(executor, f"https://127.0.0.1:{port}/", timeout_s=1).code


def test_a_page_that_is_slow_to_read_is_given_up() -> None:
    """Some texts are made to keep a parser busy; it stops when nobody waits any more."""
    with pytest.raises(TimeoutError):
        reduce_html("<p>text", "http://example.org", lambda: True, markdown=True)


# -------------------------------------------------------------------------------------------------------- redirects


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_followed_to_the_final_address(executor: Executor, serve: Callable[..., Site], status: int) -> None:
    """Relative targets are resolved against the page that names them."""
    site = serve({"/a/b": send_to("../c", status), "/c": say("there")})
    found = fetch(executor, f"{site.url}/a/b")
    assert (f"{site.url}/c", 200, "there") == (found["url"], found["status"], found["text"])


@pytest.mark.parametrize("target", ["file:///etc/passwd", "ftp://example.org/", "data:text/plain,x", "gopher://127.0.0.1/"])
def test_a_redirect_to_another_scheme_is_refused(executor: Executor, serve: Callable[..., Site], target: str) -> None:
    """Only http and https lead to pages."""
    site = serve({"/": send_to(target)})
    assert f"{target!r} is refused: only http and https addresses with a host are fetched." == problem(executor, site.url)


def test_a_redirect_to_a_private_address_is_refused(executor: Executor, serve: Callable[..., Site]) -> None:
    """Each step is checked, not the first alone."""
    site = serve({"/": send_to("http://169.254.169.254/latest/meta-data/")})
    assert "169.254.169.254 is no public address" in problem(executor, site.url)


def test_a_circle_of_redirects_ends(executor: Executor, serve: Callable[..., Site]) -> None:
    """After ten."""
    site = serve({"/": send_to("/")})
    assert "was redirected more than 10 times." in problem(executor, site.url)
    assert 11 == len(site.requests)


def test_a_redirect_to_no_address_is_a_problem_of_the_page(executor: Executor, serve: Callable[..., Site]) -> None:
    """What a server sends never breaks the tool."""
    assert "failed: ValueError" in problem(executor, serve({"/": send_to("http://[")}).url)
    assert "control character" in problem(executor, serve({"/": send_to("/a b")}).url)


# -------------------------------------------------------------------------------------------------------- addresses


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "localhost", "[::1]", "2130706433", "0x7f.1", "127.1", "[::ffff:127.0.0.1]", "[64:ff9b::7f00:1]", "0"],
)
def test_this_machine_is_refused_unless_it_is_allowed(
    executor: Executor, serve: Callable[..., Site], monkeypatch: pytest.MonkeyPatch, host: str
) -> None:
    """However the address is spelled; nothing is asked of the server."""
    site = serve({"/": say("secret")})
    monkeypatch.delenv(ALLOW_LOOPBACK)
    said = problem(executor, f"http://{host}:{site.port}/")
    assert "is no public address" in said or "failed: gaierror" in said
    assert [] == site.requests


@pytest.mark.parametrize(
    "host",
    [
        "10.0.0.1",
        "172.16.0.1",
        "192.168.1.1",
        "169.254.169.254",
        "100.64.0.1",
        "0",
        "224.0.0.1",
        "255.255.255.255",
        "[fd00::1]",
        "[fe80::1]",
        "[ff02::1]",
        "[::]",
        "[::ffff:10.0.0.1]",
        "[2002:a00:1::]",
        "[64:ff9b::a00:1]",
    ],
)
def test_private_addresses_are_always_refused(executor: Executor, monkeypatch: pytest.MonkeyPatch, host: str) -> None:
    """To allow this machine's own addresses allows no others."""
    monkeypatch.setenv(ALLOW_LOOPBACK, "1")
    assert "is no public address" in problem(executor, f"http://{host}/")


def test_a_name_with_one_private_address_is_refused(executor: Executor, monkeypatch: pytest.MonkeyPatch) -> None:
    """Which of its addresses a connection would take is the name server's choice."""

    def resolve(*_: object, **__: object) -> list[tuple[int, int, int, str, tuple[str, int]]]:
        return [(2, 1, 6, "", ("93.184.215.14", 80)), (2, 1, 6, "", ("10.0.0.1", 80))]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    assert "'example.org' is refused: 10.0.0.1 is no public address." == problem(executor, "http://example.org/")


def test_a_name_is_resolved_once(executor: Executor, serve: Callable[..., Site], monkeypatch: pytest.MonkeyPatch) -> None:
    """The connection goes to the address that was checked: a second answer could be another one."""
    site = serve({"/": say("found")})
    asked = resolve_to_loopback(monkeypatch, "example.org")
    assert "found" == fetch(executor, f"http://example.org:{site.port}/")["text"]
    assert ["example.org", "127.0.0.1"] == asked


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("http://user:secret@example.org/", "an address with a user name or password in it is refused; leave them out."),
        ("http://user@example.org/", "an address with a user name or password in it is refused; leave them out."),
        ("http:///path", "only http and https addresses with a host are fetched."),
        ("http://example.org:99999/", "is no address: Port out of range 0-65535."),
        ("http://example.org:0/", "only http and https addresses with a host are fetched."),
        ("http://[::1/", "is no address: Invalid IPv6 URL."),
        ("http://example.org/a b", "is no address: it holds a space, a backslash or a control character."),
        ("http://example.org/\r\nX: y", "is no address: it holds a space, a backslash or a control character."),
        ("http://example.org\\@127.0.0.1/", "is no address: it holds a space, a backslash or a control character."),
        (f"http://{'x' * 64}.example.org/", "failed: Unicode"),
    ],
)
def test_an_address_that_can_mislead_is_refused(executor: Executor, url: str, said: str) -> None:
    """Before anything is resolved; a password is not repeated."""
    found = problem(executor, url)
    assert said in found
    assert "secret" not in found


@pytest.mark.parametrize("url", ["file:///etc/passwd", "ftp://example.org/", "javascript:alert(1)", "example.org", ""])
def test_other_schemes_are_refused_by_schema_and_tool(executor: Executor, tmp_path: Path, url: str) -> None:
    """The schema's pattern is the first fence, not the only one."""
    assert "invalid_arguments" == run(executor, url).code
    context = HandlerContext(ToolCall("fetch_url"), define("fetch_url"), tmp_path)
    assert isinstance(read_return(fetch_url(context, {"url": url})), ToolReportedError)


def test_a_server_that_is_not_there_is_a_problem(executor: Executor, serve: Callable[..., Site]) -> None:
    """Not a failure of the tool."""
    site = serve({})
    site.close()
    assert "failed: ConnectionRefusedError" in problem(executor, site.url)


def test_no_proxy_connects_in_our_place(
    executor: Executor, serve: Callable[..., Site], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A proxy would resolve and connect without any check."""
    proxy, site = serve({"/": say("proxy")}), serve({"/": say("site")})
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.setenv(name, proxy.url)
    assert "site" == fetch(executor, site.url)["text"]
    assert [] == proxy.requests


def test_a_certificate_must_be_trusted(
    executor: Executor, serve: Callable[..., Site], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """One that nobody vouches for is refused, and one for another host."""
    authority = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    # trustme also takes contexts of pyOpenSSL, which is not installed.
    authority.issue_cert("localhost", "127.0.0.1").configure_cert(context)  # pyright: ignore[reportUnknownMemberType]
    file = tmp_path / "authority.pem"
    authority.cert_pem.write_to_path(file)
    site = serve({"/": say("safe")}, context)
    assert "SSLCertVerificationError" in problem(executor, site.url)
    monkeypatch.setenv("SSL_CERT_FILE", str(file))
    assert "safe" == fetch(executor, site.url)["text"]
    resolve_to_loopback(monkeypatch, "example.org")
    assert "SSLCertVerificationError" in problem(executor, f"https://example.org:{site.port}/")


# ------------------------------------------------------------------------------------------------------------- HTML


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("", ""),
        ("plain", "plain"),
        ("<p>a<p>b", "a\n\nb"),
        ("a<script>b</script>c<style>d</style>e", "ace"),
        ("a<script>never closed", "a"),
        ("a<svg><svg>b</svg>c</svg>d", "ad"),
        ("a</script></svg>b", "ab"),
        ("<h2> </h2><p>x</p>", "x"),
        ("<li></li><p>x</p>", "x"),
        ("<li>a<ul><li>b</ul>", "- a\n- b"),
        ('<a href="http://[">x</a>', "x"),
        ('<a href="/y">x<p>z</a>', "x\n\nz"),
        ('<a href="/y"></a>x', "x"),
        ("1 &lt; 2 &#x41; &#xD800; &nope;", "1 < 2 A \ufffd &nope;"),
        ("<pre>```\ncode</pre>", "````\n```\ncode\n````"),
        ("<!-- no --><![CDATA[no]]><?no?>yes", "yes"),
    ],
)
def test_html_is_reduced_plainly(source: str, expected: str) -> None:
    """Broken pages too."""
    assert expected == reduce_html(source, "http://example.org/x", markdown=True)


PIECES = [
    "<p>",
    "</p>",
    "<script>",
    "</script>",
    "<pre>",
    "</pre>",
    "<a href=/x>",
    "</a>",
    "<li>",
    "<td>",
    "<!--",
    "<!",
    "&#",
    "<",
]


@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=5), max_size=30).map("".join), st.booleans())
def test_any_text_can_be_reduced(source: str, markdown: bool) -> None:  # noqa: FBT001 - hypothesis passes it
    """Nothing that a server sends breaks the reader, and reading ends without empty lines at the ends."""
    found = reduce_html(source, "http://example.org/", markdown=markdown)
    assert found.strip("\n") == found
