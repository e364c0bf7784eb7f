"""RSS and Atom feeds, from files and from an address; the examples follow the standards' own."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from textbayes.core.errors import InputError, MalformedFileError
from textbayes.data import open_documents
from textbayes.data.documents import guess_format

RSS = """<?xml version="1.0" encoding="utf-8"?>
<?xml-stylesheet href="style.css"?>
<rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/" xmlns:dc="http://purl.org/dc/elements/1.1/">
<channel><title>Liftoff News</title><item><title>Star City</title><link>http://liftoff.example/star</link>
<description>How do Americans get ready? &lt;b&gt;Here&lt;/b&gt;.</description>
<content:encoded><![CDATA[<p>How do Americans get ready to work with <i>Russians</i> now?</p>]]></content:encoded>
<pubDate>Tue, 03 Jun 2003 09:39:21 GMT</pubDate><guid>http://liftoff.example/#item573</guid>
<dc:creator>Ann</dc:creator><category>Space</category><category>Travel</category></item>
<item><description>Sky watchers in Europe &amp;amp; Asia.</description><link>http://liftoff.example/sky</link></item>
<item><title>No id</title></item></channel></rss>"""

RDF = """<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/">
<channel rdf:about="http://xml.example"><title>XML.com</title></channel>
<item rdf:about="http://xml.example/1"><title>Processing Inclusions</title><link>http://xml.example/1</link>
<description>With XSLT.</description></item></rdf:RDF>"""

ATOM = """<?xml version="1.0"?><!-- ours --><feed xmlns="http://www.w3.org/2005/Atom"><title>dive into mark</title>
<entry><title>Atom draft-07 snapshot</title><link rel="enclosure" href="http://example.org/audio.mp3"/>
<link rel="alternate" href="http://example.org/2005/04/02/atom"/><id>tag:example.org,2003:3.2397</id>
<updated>2005-07-31T12:29:29Z</updated><author><name>Mark</name></author><category term="xml"/>
<content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><p><i>[Update: The Atom draft is finished.]</i></p>
</div></content></entry>
<entry><title type="html">Less: &lt;em&gt; &amp;lt; &lt;/em&gt;</title><link href="http://example.org/less"/>
<summary>Some text.</summary></entry></feed>"""


def read(path, text, **options):
    path.write_text(text, encoding="utf-8")
    return list(open_documents(path, **options))


def test_rss(tmp_path):
    star, sky, plain = read(tmp_path / "feed.rss", RSS, keep_fields=True)
    assert star.id == "http://liftoff.example/#item573"
    assert star.text == "Star City\nHow do Americans get ready to work with Russians now?"
    assert star.labels == ("Space", "Travel")
    assert (star.fields["author"], star.fields["url"]) == ("Ann", "http://liftoff.example/star")
    assert star.fields["date"] == "Tue, 03 Jun 2003 09:39:21 GMT"
    assert (sky.id, sky.text, sky.labels) == ("http://liftoff.example/sky", "Sky watchers in Europe & Asia.", ())
    again = read(tmp_path / "again.rss", RSS.replace("Star City", "Moon"))
    assert (plain.text, again[2].id) == ("No id", plain.id)  # the same whenever the feed is read


def test_rss_1(tmp_path):
    (entry,) = read(tmp_path / "feed.rdf", RDF)
    assert (entry.id, entry.text) == ("http://xml.example/1", "Processing Inclusions\nWith XSLT.")


def test_atom(tmp_path):
    first, second = read(tmp_path / "feed.atom", ATOM, keep_fields="url")
    assert (first.id, first.labels) == ("tag:example.org,2003:3.2397", ("xml",))
    assert first.text == "Atom draft-07 snapshot\n[Update: The Atom draft is finished.]"
    assert first.fields["url"] == "http://example.org/2005/04/02/atom"
    assert (second.id, second.text) == ("http://example.org/less", "Less: <\nSome text.")


@pytest.mark.parametrize(("text", "format"), [(RSS, "feed"), (RDF, "feed"), (ATOM, "feed"), ("<xml>", "endnote")])
def test_the_content_of_xml_says_whether_it_is_a_feed(tmp_path, text, format):
    path = tmp_path / "index.xml"
    path.write_text(text, encoding="utf-8")
    assert guess_format(path) == format


def test_a_feed_that_is_cut_is_refused(tmp_path):
    with pytest.raises(MalformedFileError, match=r"feed\.rss.*not a valid feed"):
        read(tmp_path / "feed.rss", RSS[:-40])


def test_entities_are_neither_followed_nor_expanded(tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("secret words", encoding="utf-8")
    head = f'<!DOCTYPE rss [<!ENTITY s SYSTEM "{secret.as_uri()}"><!ENTITY a "tea tea"><!ENTITY b "&a;&a;&a;&a;">]>'
    (entry,) = read(tmp_path / "x.rss", head + "<rss><channel><item><title>Tea &s; &b;</title></item></channel></rss>")
    assert "secret" not in entry.text
    assert len(entry.text) < 20


class _Feeds(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        data = {"/index.xml": ATOM, "/texts.csv": "text,label\nTea,drink\n"}.get(self.path, "").encode()
        self.send_response(200 if data else 404)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *args: object) -> None: ...


@pytest.fixture
def address():
    with ThreadingHTTPServer(("127.0.0.1", 0), _Feeds) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


def test_what_is_at_an_address_is_read(address):
    first, _ = open_documents(f"{address}/index.xml")
    assert first.id == "tag:example.org,2003:3.2397"
    (row,) = open_documents(f"{address}/texts.csv")
    assert (row.text, row.labels) == ("Tea", ("drink",))


def test_an_address_that_gives_nothing_is_refused(address):
    with pytest.raises(InputError, match=r"nothing\.xml could not be fetched: the server answered 404"):
        open_documents(f"{address}/nothing.xml")
    with pytest.raises(InputError, match="plain http"):
        open_documents("http://feeds.example/index.xml")
