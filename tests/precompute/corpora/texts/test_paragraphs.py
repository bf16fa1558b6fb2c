from hypothesis import given
from hypothesis import strategies as st

from analysis.errors import BadCorpus
from precompute.corpora.source import Line, span
from precompute.corpora.texts.packing import documents
from tests.precompute.corpora.tiny import unhurried
from tests.refusals import refused

words = st.text(alphabet="ab,. é", min_size=1).filter(str.strip)


def read(folder, content):
    path = folder / "corpus.txt"
    path.write_bytes(content)
    return list(documents(path))


@unhurried(50)
@given(
    groups=st.lists(st.lists(words, min_size=1), min_size=1),
    end=st.sampled_from(["\n", "\r\n", "\r"]),
    blank=st.sampled_from(["", " ", "\t"]),
)
def test_blank_lines_part_documents_whatever_ends_a_line(tmp_path_factory, groups, end, blank):
    content = f"{end}{blank}{end}".join(end.join(group) for group in groups)
    paragraphs = read(tmp_path_factory.mktemp("lines"), content.encode())
    assert [[line.text for line in lines] for lines in paragraphs] == [
        [text.strip() for text in group] for group in groups
    ]


def test_lines_are_counted_from_1_and_blank_ones_count(tmp_path):
    assert read(tmp_path, b"\xef\xbb\xbf\n = Title = \n \n one \n two \n") == [
        [Line("corpus.txt", 2, "= Title =")],
        [Line("corpus.txt", 4, "one"), Line("corpus.txt", 5, "two")],
    ]


def test_other_line_breaks_of_unicode_break_no_line(tmp_path):
    assert len(read(tmp_path, "a\u2028b\x0bc\x85d".encode())[0]) == 1


def test_span_is_one_line_or_several():
    first, last = Line("f.txt", 3, "a"), Line("f.txt", 5, "b")
    assert (span(first, first), span(first, last)) == ("f.txt line 3", "f.txt lines 3-5")


def test_line_that_is_not_utf8_is_named(tmp_path):
    assert refused(BadCorpus, read, tmp_path, "fine\n\ncafé".encode("latin1")) == (
        "corpus.txt line 3: byte 4 (0xe9) is not UTF-8; save the file as UTF-8"
    )


def test_a_line_that_goes_on_for_ever_is_refused(tmp_path):
    assert refused(BadCorpus, read, tmp_path, b"short\n" + bytes(17 * 2**20)) == (
        "corpus.txt line 2: goes on for more than 16 MiB; write a text of a few pages to a line"
    )
