"""Addresses of the workbench: one GET over HTTP or HTTPS, bounded in time and size, to public addresses only.

Every address that a connection is made to is checked after its name was resolved, redirects included, and connected to as
checked, so that a second answer of the name server changes nothing. Proxies are not used: they would connect for us.
"""

from __future__ import annotations

import http.client
import ipaddress
import os
import re
import socket
import ssl
import threading
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from html.parser import HTMLParser
from urllib.parse import SplitResult, quote, urljoin, urlsplit

from toolroster.canonical import JsonObject
from toolroster.runtime import HandlerContext
from toolroster.tools import Success

from .handlers_work import keep_result
from .workbench_paths import ToolProblem, number_of, report_problems, text_of

ALLOW_LOOPBACK = "TOOLROSTER_WORKBENCH_ALLOW_LOOPBACK"
"""Environment variable that, set to 1, lets this machine's own addresses be fetched; private ones stay refused."""
MAX_BYTES = 2_000_000
"""Bytes of an answer that are read; the rest is left unread."""

_SCHEMES = ("http", "https")
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_MAX_REDIRECTS = 10
_HEADERS = {"User-Agent": "toolroster-workbench", "Accept": "text/*, */*;q=0.5", "Accept-Encoding": "identity"}
_HTML_TYPES = ("text/html", "application/xhtml+xml")
_TEXT_TYPES = re.compile(r"text/.*|application/(?:.*\+)?(?:json|xml|javascript|yaml|toml)|application/x-ndjson|image/svg\+xml")
_META_CHARSET = re.compile(rb"<meta[^>]{0,200}charset\s*=\s*[\"']?\s*([A-Za-z0-9_:.-]{1,40})", re.IGNORECASE)
_BACKTICKS = re.compile(r"`+")
_SPACES = re.compile(r"\s+")
_HEADINGS = {f"h{level}": f"{'#' * level} " for level in range(1, 7)}
_UNSEEN = frozenset({"script", "style", "template", "svg", "iframe", "object"})
_TIGHT = frozenset({"li", "tr", "dt", "dd"})
_BLOCKS = _TIGHT | frozenset(
    {
        "address",
        "article",
        "aside",
        "blockquote",
        "body",
        "div",
        "dl",
        "figure",
        "footer",
        "form",
        "header",
        "hr",
        "main",
        "nav",
    }
    | {"ol", "p", "pre", "section", "table", "title", "ul", *_HEADINGS}
)
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")


@report_problems
def fetch_url(context: HandlerContext, arguments: JsonObject) -> object:
    """Return the answer: `{"url", "status", "content_type", "text", "total_chars", "truncated"}`.

    `url` is the final address; `text` is cut at `max_chars`, and `retrieve_tool_result` has all of it by the call's id.

    Raises:
        TimeoutError: The answer was not complete in time.
    """
    page = _within(number_of(arguments, "timeout_s", 30), text_of(arguments, "url"), text_of(arguments, "format", "markdown"))
    limit, call_id = number_of(arguments, "max_chars", 20_000), context.call.call_id
    text, more = page.text[:limit], ""
    if len(page.text) > limit:
        more = f"\n[{len(page.text) - limit} more characters"
        if call_id:
            keep_result(context.root, call_id, page.text)
            more += f"; retrieve_tool_result has all of them under the call id {call_id}"
        more += "]"
    if page.is_cut:
        more += f"\n[the answer is longer than {MAX_BYTES} bytes; its end was not read]"
    structured: JsonObject = {
        "url": page.url,
        "status": page.status,
        "content_type": page.content_type,
        "text": text,
        "total_chars": len(page.text),
        "truncated": bool(more),
    }
    return Success(f"{page.url}\n{page.status} {page.content_type}\n\n{text}{more}", structured)


def reduce_html(source: str, url: str, should_stop: Callable[[], bool] = lambda: False, *, markdown: bool) -> str:
    """Return what a page says: one block a paragraph, without scripts and styles.

    Markdown keeps headings, list items, code blocks and links (absolute, only to http and https).

    Raises:
        TimeoutError: `should_stop` said so.
    """
    reducer = _Reducer(url, should_stop, markdown=markdown)
    reducer.feed(source)
    reducer.close()
    return reducer.text()


@dataclass(frozen=True, slots=True)
class _Page:
    """An answer, as text."""

    url: str
    status: int
    content_type: str
    text: str
    is_cut: bool


@dataclass(slots=True)
class _Attempt:
    """One fetch, in a thread of its own that ends soon after nobody waits for it any more."""

    url: str
    form: str
    timeout_s: int
    page: _Page | None = None
    error: Exception | None = None
    is_given_up: bool = False
    sockets: list[socket.socket] = field(default_factory=list[socket.socket])

    def run(self) -> None:
        """Fetch, and keep what came of it."""
        try:
            self.page = self._fetch()
        except TimeoutError as error:
            self.error = error
        except (OSError, http.client.HTTPException, ValueError, zlib.error) as error:
            self.error = ToolProblem(f"fetching {self.url!r} failed: {type(error).__name__}: {error}.")
        except Exception as error:  # noqa: BLE001 - it is raised again where the page is waited for
            self.error = error

    def give_up(self) -> None:
        """Wake the thread by closing what it waits for."""
        self.is_given_up = True
        for connection in [*self.sockets]:
            _shut(connection)

    def _fetch(self) -> _Page:
        url = self.url
        for _ in range(_MAX_REDIRECTS + 1):
            parts = _split(url)
            connection = self._connect(parts)
            try:
                # A page may link to itself in any script; a request line is ASCII.
                path = quote(parts.path or "/", safe="/%:@!$&'()*+,;=~")
                query = quote(parts.query, safe="/%:@!$&'()*+,;=~?")
                if isinstance(connection.sock, ssl.SSLSocket):
                    connection.sock.do_handshake()
                connection.request("GET", f"{path}?{query}" if query else path, headers=_HEADERS)
                with connection.getresponse() as response:
                    location = response.headers.get("Location")
                    if response.status not in _REDIRECTS or location is None:
                        return _read_page(url, response, self.form, lambda: self.is_given_up)
                url = urljoin(url, location)
            finally:
                connection.close()
        raise ToolProblem(f"{self.url!r} was redirected more than {_MAX_REDIRECTS} times.")

    def _connect(self, parts: SplitResult) -> http.client.HTTPConnection:
        """Return a connection to an address that was checked, not to a name that could mean another one by now."""
        host = (parts.hostname or "").encode("idna").decode()
        port = parts.port or (443 if parts.scheme == "https" else 80)
        connection = socket.create_connection((_resolve(host, port), port), self.timeout_s)
        made = http.client.HTTPConnection(host, port)
        if parts.scheme == "https":
            security = ssl.create_default_context()
            made = http.client.HTTPSConnection(host, port, context=security)
            # The handshake comes later, when the socket is known to whoever gives up.
            connection = security.wrap_socket(connection, server_hostname=host, do_handshake_on_connect=False)
        self.sockets.append(connection)
        if self.is_given_up:
            _shut(connection)
        made.sock = connection
        return made


def _within(timeout_s: int, url: str, form: str) -> _Page:
    """Return the page; resolving, connecting, redirects, a trickling body and reducing it all count.

    Raises:
        TimeoutError: It took longer.
        ToolProblem: There is no such page, or it may not be fetched.
    """
    _split(url)
    attempt = _Attempt(url, form, timeout_s)
    # A socket can only bound each step of a fetch, and the resolver not even that.
    thread = threading.Thread(target=attempt.run, daemon=True)
    thread.start()
    thread.join(timeout_s)
    if attempt.page is not None:
        return attempt.page
    if attempt.error is not None:
        raise attempt.error
    attempt.give_up()
    raise TimeoutError


def _split(url: str) -> SplitResult:
    """Return the parts of an address.

    Raises:
        ToolProblem: It is none, or none that is fetched.
    """
    if re.search(r"[\x00-\x20\x7f\\]", url):
        raise ToolProblem(f"{url!r} is no address: it holds a space, a backslash or a control character.")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise ToolProblem(f"{url!r} is no address: {error}.") from None
    if parts.scheme not in _SCHEMES or not parts.hostname or port == 0:
        raise ToolProblem(f"{url!r} is refused: only http and https addresses with a host are fetched.")
    if "@" in parts.netloc:
        raise ToolProblem("an address with a user name or password in it is refused; leave them out.")
    return parts


def _read_page(url: str, response: http.client.HTTPResponse, form: str, should_stop: Callable[[], bool]) -> _Page:
    status, headers, data = response.status, response.headers, response.read(MAX_BYTES + 1)
    encoding = headers.get("Content-Encoding", "identity").strip().lower()
    if encoding in ("gzip", "x-gzip"):
        # Bounded, since a small body can unfold into any amount.
        data = zlib.decompressobj(31).decompress(data, MAX_BYTES + 1)
    elif encoding not in ("identity", ""):
        raise ToolProblem(f"{url!r} answered in the encoding {encoding!r}, which was not asked for.")
    data, is_cut = data[:MAX_BYTES], len(data) > MAX_BYTES
    kind = headers.get_content_type() if "Content-Type" in headers else ""
    if (kind and not _TEXT_TYPES.fullmatch(kind) and kind not in _HTML_TYPES) or (not kind and b"\0" in data):
        raise ToolProblem(f"{url!r} is {kind or 'binary data'} ({len(data)} bytes; status {status}), no text.")
    is_html = kind in _HTML_TYPES
    text = _decode(data, headers.get_content_charset(), is_html=is_html)
    if is_html and form != "raw":
        text = reduce_html(text, url, should_stop, markdown=form == "markdown")
    return _Page(url, status, kind or "text/plain", text, is_cut)


def _decode(data: bytes, charset: str | None, *, is_html: bool) -> str:
    if charset is None and is_html and (found := _META_CHARSET.search(data[:2_048])):
        charset = found[1].decode("ascii")
    try:
        text = data.decode(charset or "utf-8", "replace")
    except (LookupError, UnicodeError):
        text = data.decode("utf-8", "replace")
    # Some encodings can spell half of a surrogate pair, which no JSON text may hold.
    return text.removeprefix("\ufeff").encode("utf-8", "replace").decode("utf-8")


def _resolve(host: str, port: int) -> str:
    """Return the first address of a host, once each of its addresses was found to be public.

    Raises:
        ToolProblem: One of them is not.
        OSError: It has none.
    """
    found = [str(entry[4][0]) for entry in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]
    for address in found:
        if not _is_public(ipaddress.ip_address(address)):
            raise ToolProblem(f"{host!r} is refused: {address} is no public address.")
    return found[0]


def _is_public(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    if isinstance(address, ipaddress.IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour or (address.teredo[1] if address.teredo else None)
        if address in _NAT64:
            inner = ipaddress.IPv4Address(int(address) & 0xFFFF_FFFF)
        if inner is not None:
            # What stands inside is where the packets go.
            return _is_public(inner)
    if address.is_loopback:
        return os.environ.get(ALLOW_LOOPBACK) == "1"
    return address.is_global and not address.is_multicast


def _shut(connection: socket.socket) -> None:
    try:
        # Past a TLS socket's own method, which would forget the session under the reading thread's hands.
        socket.socket.shutdown(connection, socket.SHUT_RDWR)
    except OSError:
        # It is closed already.
        return


class _Reducer(HTMLParser):
    """Collects what a page says, block by block."""

    def __init__(self, url: str, should_stop: Callable[[], bool], *, markdown: bool) -> None:
        super().__init__(convert_charrefs=True)
        self._should_stop = should_stop
        self._url = url
        self._markdown = markdown
        self._blocks: list[tuple[str, str]] = []
        self._line: list[str] = []
        self._has_text = False
        self._tag = ""
        self._prefix = ""
        self._unseen: list[str] = []
        self._is_pre = False
        self._link: tuple[int, str] | None = None

    def text(self) -> str:
        """Return all blocks: lines of a list or table close together, an empty line between others."""
        self._end_block()
        said = ""
        for index, (tag, block) in enumerate(self._blocks):
            tight = index > 0 and tag in _TIGHT and self._blocks[index - 1][0] in _TIGHT
            said += ("" if not index else "\n" if tight else "\n\n") + block
        return said

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        """Begin what the tag begins."""
        if self._unseen or tag in _UNSEEN:
            if tag in (self._unseen or (tag,)):
                self._unseen.append(tag)
            return
        if tag in _BLOCKS:
            self._end_block()
            self._tag = tag
            self._is_pre = tag == "pre"
            heading = _HEADINGS.get(tag, "") if self._markdown else ""
            # A paragraph inside a list item goes on with the item's line.
            self._prefix = "- " if tag == "li" else heading or (self._prefix if tag in ("p", "div") else "")
        elif tag == "br":
            self._line.append("\n")
        elif tag in ("td", "th") and self._has_text:
            self._line.append(" | ")
        elif tag == "a" and self._markdown and (target := self._absolute(dict(attrs).get("href"))):
            self._link = (len(self._line), target)

    def handle_endtag(self, tag: str) -> None:
        """End what the tag ends."""
        if self._unseen:
            if tag == self._unseen[-1]:
                self._unseen.pop()
        elif tag in _BLOCKS:
            self._end_block()
            self._prefix, self._is_pre = "", False
        elif tag == "a":
            self._end_link()

    def handle_data(self, data: str) -> None:
        """Add text; outside of preformatted text, runs of white space count as one space."""
        if self._should_stop():
            # Some texts make the parser slow on purpose; it comes by here again and again.
            raise TimeoutError
        if not self._unseen:
            self._has_text = self._has_text or not data.isspace()
            self._line.append(data if self._is_pre else _SPACES.sub(" ", data))

    def _absolute(self, target: str | None) -> str:
        try:
            found = urljoin(self._url, target or "")
        except ValueError:
            return ""
        return found if target and urlsplit(found).scheme in _SCHEMES else ""

    def _end_link(self) -> None:
        if self._link is not None:
            start, target = self._link
            said = "".join(self._line[start:])
            if said.strip():
                self._line[start:] = [f"[{said.strip()}]({target})"]
        self._link = None

    def _end_block(self) -> None:
        self._link = None
        said, self._line, self._has_text = "".join(self._line), [], False
        if self._is_pre:
            if said.strip():
                fence = "`" * max(3, *(len(run) + 1 for run in _BACKTICKS.findall(said)), 0) if self._markdown else ""
                self._blocks.append(("pre", "\n".join(part for part in (fence, said.strip("\n"), fence) if part)))
            return
        lines = [_SPACES.sub(" ", line).strip() for line in said.split("\n")]
        if any(lines):
            self._blocks.append(("li" if self._prefix == "- " else self._tag, self._prefix + "\n".join(filter(None, lines))))
            self._prefix = ""
