"""A few sentences with trees, and three documents with coreference, as a CoNLL-U file."""

from pathlib import Path

_PLAIN = """
The/DET/2/det cat/NOUN/3/nsubj sat/VERB/0/root ,/PUNCT/7/punct the/DET/6/det dog/NOUN/7/nsubj
  ran/VERB/3/conj ./PUNCT/3/punct
The/DET/2/det dog/NOUN/5/nsubj and/CCONJ/4/cc cat/NOUN/2/conj sat/VERB/0/root ./PUNCT/5/punct
Dog/NOUN/2/nsubj ran/VERB/0/root ,/PUNCT/4/punct ran/VERB/2/conj ./PUNCT/2/punct
The/DET/2/det mat/NOUN/4/nsubj:outer ,/PUNCT/2/punct sat/VERB/0/root the/DET/6/det
  catmat/NOUN/4/obj ./PUNCT/4/punct
Cat/PROPN/3/nmod:poss 's/PART/1/case dog/NOUN/4/nsubj ran/VERB/0/root ./PUNCT/4/punct
"""
_DOCUMENTS = """
The/DET/2/det/(1 catmat/NOUN/3/nsubj/1) ran/VERB/0/root ./PUNCT/3/punct
It/PRON/2/nsubj/(1) sat/VERB/0/root on/ADP/5/case the/DET/5/det/(2 mat/NOUN/2/obl/2)
  ./PUNCT/2/punct
Zed/PROPN/2/nsubj/(3) sat/VERB/0/root the/DET/4/det/(1 catmat/NOUN/2/obj/1) ,/PUNCT/7/punct
  he/PRON/7/nsubj/(3) ran/VERB/2/conj the/DET/9/det/(2 mat/NOUN/7/obj/2) ./PUNCT/2/punct

Zed/PROPN/2/nsubj/(1) ran/VERB/0/root ,/PUNCT/5/punct Zed/PROPN/5/nsubj/(1) sat/VERB/2/conj
  ./PUNCT/2/punct
He/PRON/2/nsubj/(1) sat/VERB/0/root the/DET/4/det/(2 dog/NOUN/2/obj/2) ./PUNCT/2/punct
The/DET/2/det/(2 dog/NOUN/3/nsubj/2) ran/VERB/0/root ./PUNCT/3/punct

The/DET/2/det/(1 cat/NOUN/3/nsubj/1) sat/VERB/0/root ;/PUNCT/5/punct sat/VERB/3/conj
  the/DET/7/det/(2 dog/NOUN/5/obj/2) ./PUNCT/3/punct
The/DET/2/det/(1 cat/NOUN/5/nsubj/1) and/CCONJ/4/cc it/PRON/2/conj/(2) ran/VERB/0/root
  ./PUNCT/5/punct
"""
_NO_SPACE_BEFORE = {",", ".", ";", "'s"}
_HEADER = "# newdoc id = {}\n# global.Entity = GRP-etype-link\n"


def write_treebank(path: Path) -> Path:
    """Writes every sentence three times over, so that halves of the corpus hold all relations."""
    plain = [_conllu(line) for line in _lines(_PLAIN)] * 3
    documents = [
        _HEADER.format(number) + "\n".join(_conllu(line) for line in _lines(text))
        for number, text in enumerate(_DOCUMENTS.strip().split("\n\n") * 3)
    ]
    path.write_text("\n".join([*plain, *documents]) + "\n", encoding="utf-8")
    return path


def _lines(text: str) -> list[str]:
    """One sentence each; an indented line goes on with the one before it."""
    return text.strip().replace("\n  ", " ").splitlines()


def _conllu(sentence: str) -> str:
    words = [word.split("/") for word in sentence.split()]
    after = [form for form, *_ in words[1:]] + [""]
    return "".join(_line(n, *pair) for n, pair in enumerate(zip(words, after, strict=True), 1))


def _line(number: int, word: list[str], after: str) -> str:
    form, part, head, relation, *entity = word
    known = [f"Entity={_items(brackets)}" for brackets in entity]
    known += ["SpaceAfter=No"] * (after in _NO_SPACE_BEFORE)
    misc = "|".join(known) or "_"
    features = "Number=Sing" if part in {"NOUN", "PROPN", "PRON"} else "_"
    return f"{number}\t{form}\t_\t{part}\t_\t{features}\t{head}\t{relation}\t_\t{misc}\n"


def _items(brackets: str) -> str:
    """`(1` with the kind of thing and link that an opening bracket tells."""
    closes = brackets.endswith(")")
    opened = f"{brackets.rstrip(')')}-thing-coref" if brackets.startswith("(") else brackets[:-1]
    return opened + ")" * closes
