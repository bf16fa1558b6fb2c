"""The word pairs that a paper lists: the change that FF makes to their mixing, layer by layer.

Each line holds a layer and some of its pairs `source target`, in the order of the paper, which has
fewer than ten in some layers. Tokens are written as in the text of the paper's file, where one is
garbled (`fa,o;u`, layer 11, probably `family`).
"""

Pair = tuple[str, str]


def _pair(written: str) -> Pair:
    source, target = written.split(" ")
    return source, target


def _pairs(written: str) -> dict[int, tuple[Pair, ...]]:
    """Return pairs by layer, from lines of a layer and pairs."""
    by_layer: dict[int, tuple[Pair, ...]] = {}
    for line in written.split("\n")[1:-1]:
        layer, pairs = line.split(" ", 1)
        by_layer[int(layer)] = by_layer.get(int(layer), ()) + tuple(map(_pair, pairs.split(" | ")))
    return by_layer


AMPLIFIED = _pairs(
    """
1 det ##our | space outer | res ##ili | ##imi ##nate | art deco | week ##night | phones cell
1 spear ##head | missile ballistic | ##ush ##chev
2 national guard | [SEP] healthcare | [SEP] pumped | f ##oy | could easily | s ’ | latin america
2 anderson anderson | ##lard ##lard | [SEP] ahmed
3 ##k paso | ##om sans | ##p ##la | ##ant avoid | though ― | ##mel water | ##wind nord | ##oh rabbit
3 ##ci ##pres | alcoholism alcoholism
4 ds ##l | ter ter | ##ili ##ent | ##tera ##l | spa ##ll | hansen hansen | mn ##et | baker baker
4 ##lea ##r | 7 151
5 ##ili ##ent | ##jo ##rative | ##ili res | ds ##l | ##ense ##r | nam ##ur | ##vor ##able | eli ##el
5 ##pres ##ci | ##ear ##ment
6 nam ##ur | behalf on | benefit from | denoted by | ##pres ##ci | considers be | paso ##k
6 ##lk ##o | tasked with | impact on
7 st dun | st vi | ##car pre | among vessels | ##ife ##l
8 ##lz ##ano | against serbia | than accidents | – 1643
9 never despite | ##ef sha | she juliet | died 1993 | and swear
10 ##nen jan | ##nen ##tu | maison maison | deeds deeds | fame fame | chemicals chemicals
10 bela bela | fruit fruit | ##oping link | ##rmi fe
11 czech ve | catalonia ##ll | hack hack | ##water ##water | czech ##ka | ##nen jan | tiny tiny
11 khmer ##k | singer fine | juventus juventus
12 luis luis | france montpellier | administrative ##c | " ballad | " operators | 同 tong
12 index ##i | base near | ##re ##ide | analysis ##ss
"""
)
"""Table 3: pairs whose mixing grows most."""
ATTENUATED = _pairs(
    """
1 spa ##l | c & | e ##qui | f ##oy | ##tree ##t | dr ##iest | tr ##ai | seven months | red sandstone
1 red ##ef
2 [CLS] “ | [CLS] – | [CLS] ” | [CLS] ― | [CLS] ’ | [CLS] chapels | [CLS] ##zza | ##ffe ##uli
2 ##ef sha | ##op ##hr
3 june october | february may | ##pre [SEP] | 15 21 | april may | [CLS] [SEP] | excuses [SEP]
3 july august | breakup [SEP] | january march
4 ] / | kenya central | festival prize | but unable | 1948 war | ##rmin ##rmin | ld ld | td td
4 but merely | ##hy ##hy
5 hard hard | choice choice | ##zo ##zo | ##hu ##hu | ##vis ##vis | ##ap ##ap | ##aa ##aa
5 ties ties | ##och ##och | ti ti
6 also addition | nominee republican | differences between | ##ulus ##nus | appeared having
6 ##or no | obe ##rst
7 lead 0 | households 47 | ##ant avoid | dal " | set 3 | rugby national | ethel ’
8 ##fers upon | km2 ) | bought from | 44 25 | ##hen ##hai | tournament ; | africa my
8 inherently not | reserves last
9 [CLS] ##kill | relative . | recruited . | [CLS] pr | voiced ’ | [CLS] thai | debated .
9 [CLS] hockey | beetle the | ##by ka
10 ##uke ##t | moldova [SEP] | ##bo ##u | moroccan [SEP] | ##by ##lie | kenya [SEP] | ##n ##ja
10 ##ari ##nen | judo [SEP] | taiwanese [SEP]
11 38 8 | ##eet . | ##rmin ##rmin | ##oum ##oum | erebidae the | erebidae fa,o;u | ##rgeon ##rgeon
11 discuss discuss | comprise was | religion nationality
12 juventus [CLS] | apple [CLS] | gray [CLS] | ##uman [CLS] | jc [CLS] | henley [CLS] | bulge [CLS]
12 rum [CLS] | fungus [CLS] | 1612 [CLS]
"""
)
"""Table 4: pairs whose mixing shrinks most."""
