"""Mentions in CoNLL-U: brackets, clusters, heads, and refused entities."""

import pytest

from analysis.errors import BadCorpus
from precompute.corpora.annotated.conllu import conllu_documents
from precompute.corpora.sequence import Mention
from tests.precompute.corpora.tiny import load, sound
from tests.refusals import refused

HEADER = "# newdoc id = a\n# global.Entity = GRP-etype-link-minspan-identity\n"
WORDS = (
    ("The", "DET", 2),
    ("cat", "NOUN", 4),
    ("Zed", "PROPN", 2),
    ("sat", "VERB", 0),
    ("it", "PRON", 4),
    ("ran", "VERB", 4),
)


def text_of(*entities: str, words=WORDS) -> str:
    """One sentence, with an `Entity=` for each word that has one."""
    lines = [
        f"{n}\t{form}\t_\t{part}\t_\t_\t{head}\tdep\t_\t{f'Entity={entity}' if entity else '_'}\n"
        for n, ((form, part, head), entity) in enumerate(zip(words, entities, strict=True), start=1)
    ]
    return "".join(lines)


@pytest.fixture
def document(tmp_path):
    def read(text: str, header: str = HEADER):
        path = tmp_path / "f.conllu"
        path.write_text(header + text, encoding="utf-8")
        first, *_ = sound(conllu_documents(path))
        return first

    return read


def test_brackets_of_one_name_close_in_turn(document):
    parsed = document(text_of("(7-x-coref", "(7-x-coref", "7)", "7)", "", "(9-x-coref)(9-y-coref)"))
    spans = [(mention.first, mention.last, mention.cluster) for mention in parsed.mentions]
    assert spans == [(0, 3, 0), (1, 2, 0), (5, 5, 1), (5, 5, 1)]
    assert parsed.bears_coreference
    assert parsed.heads_by == "tree"


def test_head_and_kind_come_from_the_tree(document):
    parsed = document(text_of("(1-x-coref", "", "(1-x-coref)1)", "", "(1-x-ana)", ""))
    assert parsed.mentions == (
        Mention(0, 2, 1, cluster=0, kind="nominal"),
        Mention(2, 2, 2, cluster=0, kind="proper"),
        Mention(4, 4, 4, cluster=0, kind="pronoun"),
    )


def test_of_several_words_that_hang_outside_the_one_that_the_file_names_is_the_head(document):
    words = (*WORDS[:2], ("Zed", "PROPN", 4), ("and", "CCONJ", 6), ("it", "PRON", 6))
    words = (*words, ("ran", "VERB", 0))
    openings = ("(1-x-coref", "(1-x-coref-3", "(1-x-coref-1,3", "(1-x-coref-1")
    heads = [
        document(text_of("", "", opening, "", "1)", "(1-x-coref)", words=words)).mentions[0].head
        for opening in openings
    ]
    assert heads == [3, 4, 4, 3]


@pytest.mark.parametrize("link", ["sgl", "pred", "appos"])
def test_what_is_no_mention_of_its_own_is_left_out(document, link):
    parsed = document(text_of("(1-x-coref)", f"(1-x-{link})", "(1-x-ana)", "(2-x-coref)", "", ""))
    assert [mention.first for mention in parsed.mentions] == [0, 2]


def test_what_is_mentioned_once_has_nothing_to_corefer_with(document):
    parsed = document(text_of("(1-x-coref)", "(1-x-pred)", "", "(2-x-coref)", "", ""))
    assert parsed.mentions == ()
    assert parsed.bears_coreference


def test_discontinuous_mentions_are_left_out(document):
    pieces = ("(1-x[1/2]-coref", "1[1/2])", "(1[2/2]-x-coref)", "(1-x-coref)", "(1-x-ana)", "")
    assert [mention.first for mention in document(text_of(*pieces)).mentions] == [3, 4]


def test_mentions_may_cross_sentences_but_not_documents(document, tmp_path):
    across = text_of("(1-x-coref", *[""] * 5) + "\n" + text_of("", "1)", "(1-x-ana)", *[""] * 3)
    assert [(m.first, m.last) for m in document(across).mentions] == [(0, 7), (8, 8)]
    with pytest.raises(BadCorpus, match=r"line 3: '\(1' is never closed; close it with 1\)"):
        document(across.replace("\n\n", "\n\n# newdoc id = b\n"))


def test_corefud_names_its_fields_otherwise(document):
    header = "# global.Entity = eid-etype-head-other\n"
    parsed = document(text_of("(e1-x-2-", "e1)", "", "", "(e1-x-1-)", ""), header)
    assert [(m.first, m.last, m.head) for m in parsed.mentions] == [(0, 1, 1), (4, 4, 4)]


def test_fields_stay_those_of_the_last_header(document, tmp_path):
    text = text_of("(1-x-coref)", "(1-x-pred)", "(1-x-ana)", "", "", "")
    (tmp_path / "g.conllu").write_text(f"{HEADER}{text}\n# newdoc id = b\n{text}")
    documents = list(sound(conllu_documents(tmp_path / "g.conllu")))
    assert [len(entry.mentions) for entry in documents] == [2, 2]


def test_without_a_tree_the_file_or_the_part_of_speech_tells_the_head(document):
    text = text_of("(1-x-coref", "", "1)", "", "(1-x-ana-1)", "")
    bare = text.replace("\tdep\t", "\t_\t")
    for _, _, head in WORDS:
        bare = bare.replace(f"\t{head}\t_\t_\t", "\t_\t_\t_\t")
    parsed = document(bare)
    assert [mention.head for mention in parsed.mentions] == [2, 4]
    assert parsed.heads_by == "tag"
    named = document(bare.replace("(1-x-coref", "(1-x-coref-2")).mentions[0]
    assert named.head == 1


@pytest.mark.parametrize(
    ("entity", "message"),
    [
        ("1)", "line 3: '1)' closes what is not open; open it with (1"),
        ("(1-x-coref", "line 3: '(1' is never closed; close it with 1)"),
        ("(1-x-coref)2", "line 3: '(1-x-coref)2' is no run of brackets; write (1, 1) or (1), as "),
        ("()", "line 3: '()' is no run of brackets"),
        (")(", "line 3: ')(' is no run of brackets"),
    ],
)
def test_brackets_that_do_not_match_are_refused(document, entity, message):
    refusal = refused(BadCorpus, document, text_of(entity, *[""] * 5))
    assert refusal.startswith(f"f.conllu {message}")


HEADERS = {  # of the same entities: 7 twice, apposed once, and 9 once
    "GRP-etype-link": ("(7-x-coref", "7)", "(7-x-appos)", "(7-x-ana)", "(9-x-coref)"),
    "eid-etype-head-other": ("(e7-x-2-", "e7)", "", "(e7-x-1-)", "(e9-x-1-)"),
    "entity-GRP": ("(person-7", "person-7)", "", "(person-7)", "(person-9)"),
    "entity-GRP-infstat-MIN-coref_type-identity": (
        *("(person-7-new-2-coref", "person-7)", "(person-7-giv-1-appos)", "(person-7-giv-1-ana)"),
        "(place-9-new-1-coref-Rome-by-night)",
    ),
    "etype-identity-GRP": ("(x-Rome-7", "7)", "", "(x--7)", "(x--9)"),
    "infstat-eid-link": ("(new-e7-coref", "new-e7)", "(giv-e7-pred)", "(giv-e7-ana)", "(new-e9-)"),
    "": ("(e7-x-2-", "e7)", "", "(e7-x-1-)", "(e9-x-1-)"),
    " ": ("(person-7", "person-7)", "", "(person-7)", "(person-9)"),
    "  ": ("(7-x-new-coref", "7)", "(7-x-giv-appos)", "(7-x-giv-ana)", "(9-x)"),
}


@pytest.mark.parametrize("header", HEADERS)
def test_coreference_is_read_where_header_or_brackets_tell_the_entity(document, header):
    named = f"# global.Entity = {header}\n" if header.strip() else ""
    parsed = document(text_of("", *HEADERS[header]), f"# newdoc id = a\n{named}")
    assert [(m.first, m.last, m.cluster) for m in parsed.mentions] == [(1, 2, 0), (4, 4, 0)]
    assert parsed.bears_coreference


NO_ENTITY = " nothing tells which mentions are of one entity; call its field GRP or eid there"
UNREAD = {
    "no field for the entity": (
        "# global.Entity = etype-identity\n",
        ("(person-Rome", "person)", "", "", "(place)", ""),
        "f.conllu: `# global.Entity = etype-identity` names no field GRP or eid, and so"
        + NO_ENTITY,
    ),
    "no header and no number": (
        "",
        ("(person", "person)", "", "", "(e1-place)", ""),
        "f.conllu: no comment `# global.Entity = …` is there, and" + NO_ENTITY,
    ),
    "a bracket without its entity": (
        "# global.Entity = entity-GRP\n",
        ("(person-7", "person-7)", "", "", "(place)", ""),
        "f.conllu line 6: 'place' lacks field 2, which names the entity",
    ),
    "closed and not opened": (
        HEADER,
        ("", "7)", "", "", "", ""),
        "f.conllu line 4: '7)' closes what is not open; open it with (7",
    ),
    "no bracket": (
        HEADER,
        ("", "7", "", "", "", ""),
        "f.conllu line 4: '7' is no run of brackets; write (1, 1) or (1), as in (1(2)3)",
    ),
    "never closed": (
        HEADER,
        ("", "(7-x", "", "", "", ""),
        "f.conllu line 4: '(7' is never closed; close it with 7)",
    ),
}


@pytest.mark.parametrize("packing", ["paragraphs", "trees"])
@pytest.mark.parametrize("kind", UNREAD)
def test_coreference_that_cannot_be_read_loses_itself_alone(tmp_path, kind, packing, capsys):
    header, entities, reason = UNREAD[kind]
    path = tmp_path / "f.conllu"
    other = "\n# newdoc id = b\n# global.Entity = eid\n" + text_of("(e1", "e1)", "(e1)", *[""] * 3)
    path.write_text(f"{header}{text_of(*entities)}{other}", encoding="utf-8")
    corpus = load(path, packing=packing)
    known = [sequence.annotation for sequence in corpus.sequences]
    assert [(found.governors, len(found.mentions)) for found in known if found] == [
        ((1, 3, 1, -1, 3, 3), 0),
        ((1, 3, 1, -1, 3, 3), 2),
    ]
    assert (corpus.counts["coreference_left_out"], corpus.counts["malformed_rows_left_out"]) == (
        1,
        0,
    )
    assert capsys.readouterr().out == f"Left out, the coreference of a document: {reason}.\n"


def test_one_reason_of_many_documents_is_printed_once(tmp_path, capsys):
    path = tmp_path / "f.conllu"
    text = "# newdoc\n# global.Entity = etype\n" + text_of("(person)", *[""] * 5)
    path.write_text("\n".join([text] * 25), encoding="utf-8")
    assert load(path).counts["coreference_left_out"] == 25
    assert len(capsys.readouterr().out.splitlines()) == 1


COREFUD = "# newdoc id = a\n# global.Entity = eid-etype-head-other\n"


def rows_of(*rows: tuple[str, str, str]) -> str:
    """One sentence of words and empty nodes: ID, form and `Entity=`, the second word its root."""
    lines = (
        f"{number}\t{form}\t_\tNOUN\t_\t_\t"
        + ("_\t_" if "." in number else "0\troot" if number == "2" else "2\tdep")
        + f"\t_\t{f'Entity={entity}' if entity else '_'}\n"
        for number, form, entity in rows
    )
    return "".join(lines) + "\n"


@pytest.mark.parametrize(
    ("rows", "spans"),
    [
        ([("1", "ran", ""), ("1.1", "_", "(e1-person-1-"), ("2", "home", "e1)")], [(1, 1)]),
        ([("1", "cat", "(e1-a-1-"), ("2", "sat", ""), ("2.1", "_", "e1)")], [(0, 1)]),
        ([("0.1", "_", "(e1-a-1-"), ("1", "a", ""), ("2", "b", ""), ("2.1", "_", "e1)")], [(0, 1)]),
        (
            [("1", "a", "(e1-a-1-"), ("1.1", "_", "(e2-b-1-"), ("2", "b", "e2)e1)")],
            [(0, 1), (1, 1)],
        ),
    ],
    ids=["opens", "closes", "both", "nested"],
)
def test_a_mention_that_begins_or_ends_on_an_empty_node_holds_the_words_between(
    document, rows, spans
):
    more = rows_of(("1", "it", "(e1-a-1-)(e2-b-1-)"), ("2", "sat", "(e2-b-1-)"))
    parsed = document(rows_of(*rows) + more, COREFUD)
    of_first = [(m.first, m.last) for m in parsed.mentions][: len(spans)]
    assert of_first == spans
    assert parsed.mentions_without_words == 0


@pytest.mark.parametrize(("named", "head"), [("head", 2), ("minspan", 1)])
def test_a_head_is_counted_with_empty_nodes_and_a_minimal_span_without(document, named, head):
    rows = [("1", "a", ""), ("1.1", "_", "(e1-x-NUMBER-"), ("2", "b", ""), ("3", "c", "e1)")]
    untree = rows_of(*rows).replace("2\tdep", "_\t_").replace("0\troot", "_\t_")
    more = rows_of(("1", "it", "(e1-a-1-)"), ("2", "sat", ""))
    more = more.replace("2\tdep", "_\t_").replace("0\troot", "_\t_")
    number = "3" if named == "head" else "1"
    header = COREFUD.replace("head", named)
    parsed = document(untree.replace("NUMBER", number) + more, header)
    assert [(m.first, m.last, m.head) for m in parsed.mentions] == [(1, 2, head), (3, 3, 3)]


@pytest.mark.parametrize(
    ("entities", "left_out", "kept"),
    [
        (["(e1-a-1-)", "", "(e1-a-1-)"], 1, [(0, 0), (3, 3)]),
        (["", "(e1-a-1-", "e1)"], 1, []),
        (["", "", "(e9-a-1-)"], 0, []),
    ],
    ids=["alone", "from one to the next", "of nothing that corefers"],
)
def test_mentions_of_empty_nodes_alone_are_left_out_and_counted(document, entities, left_out, kept):
    first, second, third = entities
    text = rows_of(("1", "a", first), ("2", "b", ""), ("2.1", "_", second), ("2.2", "_", third))
    more = rows_of(("1", "x", ""), ("2", "it", "(e1-a-1-)"))
    parsed = document(text + more, COREFUD)
    assert parsed.mentions_without_words == left_out
    assert [(m.first, m.last) for m in parsed.mentions] == kept


def test_the_mentions_left_out_are_counted_in_the_corpus(tmp_path):
    path = tmp_path / "f.conllu"
    rows = [("1", "a", "(e1-a-1-)"), ("1.1", "_", "(e1-a-1-)"), ("2", "it", "(e1-a-1-)")]
    path.write_text(COREFUD + rows_of(*rows), encoding="utf-8")
    assert load(path).counts["mentions_without_words_left_out"] == 1
