"""The part of Universal Dependencies that the bundled treebank makes use of."""


def listed(words: str) -> frozenset[str]:
    return frozenset(words.split())


UPOS = listed("ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB X")
RELATIONS = listed(
    "acl advcl advmod amod appos aux case cc ccomp clf compound conj cop csubj dep det discourse "
    "dislocated expl fixed flat goeswith iobj list mark nmod nsubj nummod obj obl orphan parataxis "
    "punct reparandum root vocative xcomp acl:relcl aux:pass compound:prt nmod:poss nsubj:pass "
    "obl:agent obl:tmod"
)
VALUES = {
    "Case": "Acc Gen Nom",
    "Definite": "Def Ind",
    "Degree": "Cmp Pos",
    "Gender": "Fem Masc Neut",
    "Mood": "Imp Ind",
    "NumForm": "Digit Word",
    "NumType": "Card Ord",
    "Number": "Plur Sing",
    "Person": "1 2 3",
    "Polarity": "Neg",
    "Poss": "Yes",
    "PronType": "Art Dem Ind Int Neg Prs Rel Tot",
    "Tense": "Past Pres",
    "VerbForm": "Fin Ger Inf Part",
    "Voice": "Pass",
}
FEATURES = {
    "ADJ": "Degree NumForm NumType",
    "ADV": "PronType",
    "AUX": "Mood Number Person Tense VerbForm",
    "DET": "Definite Number PronType",
    "NOUN": "Number",
    "NUM": "NumForm NumType",
    "PART": "Polarity",
    "PRON": "Case Gender Number Person Poss PronType",
    "PROPN": "Number",
    "VERB": "Mood Number Person Tense VerbForm Voice",
}
REQUIRED = {
    "ADJ": "Degree",
    "AUX": "VerbForm",
    "DET": "PronType",
    "NOUN": "Number",
    "NUM": "NumForm NumType",
    "PROPN": "Number",
    "VERB": "VerbForm",
}
NOMINAL = listed("NOUN PROPN PRON NUM")
CLAUSAL = listed("VERB ADJ")
BEARERS = {  # which parts of speech may bear a relation
    "acl": CLAUSAL, "acl:relcl": CLAUSAL, "advcl": CLAUSAL, "advmod": listed("ADV PART"),
    "amod": listed("ADJ"), "appos": NOMINAL, "aux": listed("AUX"), "aux:pass": listed("AUX"),
    "case": listed("ADP PART"), "cc": listed("CCONJ"), "ccomp": CLAUSAL, "compound": NOMINAL,
    "compound:prt": listed("ADP"), "cop": listed("AUX"), "csubj": CLAUSAL, "det": listed("DET"),
    "expl": listed("PRON"), "flat": listed("PROPN"), "iobj": NOMINAL, "mark": listed("SCONJ PART"),
    "nmod": NOMINAL, "nmod:poss": NOMINAL, "nsubj": NOMINAL, "nsubj:pass": NOMINAL,
    "nummod": listed("NUM"), "obj": NOMINAL, "obl": NOMINAL | {"ADV"}, "obl:agent": NOMINAL,
    "obl:tmod": listed("NOUN"), "punct": listed("PUNCT"), "xcomp": CLAUSAL | {"NOUN"},
}  # fmt: skip
GOVERNORS = {  # and of which it may be the governor's
    "acl": NOMINAL, "acl:relcl": NOMINAL, "advcl": CLAUSAL, "amod": NOMINAL, "appos": NOMINAL,
    "aux": CLAUSAL, "aux:pass": listed("VERB"), "case": NOMINAL | {"ADV"}, "ccomp": listed("VERB"),
    "compound": NOMINAL, "compound:prt": listed("VERB"), "cop": listed("ADJ NOUN"),
    "det": NOMINAL, "flat": listed("PROPN"), "iobj": listed("VERB"), "mark": CLAUSAL,
    "nmod": NOMINAL, "nmod:poss": NOMINAL, "nsubj": CLAUSAL, "nsubj:pass": listed("VERB"),
    "nummod": NOMINAL, "obj": listed("VERB"), "obl": CLAUSAL, "obl:agent": listed("VERB"),
    "obl:tmod": CLAUSAL, "xcomp": listed("VERB"),
}  # fmt: skip
LEAVES = listed("aux aux:pass case cc cop mark punct")
SUBJECTS = listed("nsubj nsubj:pass csubj")
