"""Tables of the corpus as the model read it, as SQL over a part of the index (`part`)."""

from collections.abc import Mapping

from analysis.statistics.base.tables import Table
from analysis.statistics.corpus import MENTIONS, SEQUENCES, TOKENS, WORDS
from analysis.statistics.question import quoted
from analysis.token_types import TOKEN_TYPES

ROWS: Mapping[Table, str] = {
    SEQUENCES: "select index as seq, len(ids) as n_tokens, text from part",
    TOKENS: f"""
        select seq, pos, ids[pos + 1] as token_id, tokens[pos + 1] as token,
            enum_range(null::enum ({quoted(*TOKEN_TYPES)}))[token_types[pos + 1] + 1]
                ::enum ({quoted(*TOKEN_TYPES)}) as token_type,
            segments[pos + 1] as segment, masked[pos + 1] as is_masked
        from (select *, index as seq, unnest(range(len(ids))) as pos from part)""",
    WORDS: """
        select seq, word, sentences[word + 1] as sentence, forms[word + 1] as form,
            spaces[word + 1] as space_after, word_spans[2 * word + 1] as first_pos,
            word_spans[2 * word + 2] - 1 as last_pos,
            parts_of_speech[word + 1] as part_of_speech, relations[word + 1] as relation,
            nullif(governors[word + 1], -1) as governor,
            list_bool_or(masked[first_pos + 1:last_pos + 1]) as is_masked
        from (
            select * exclude (words), annotation.*, index as seq,
                unnest(range(len(annotation.forms))) as word
            from part)""",
    MENTIONS: """
        select seq, mention, of.first as first_word, of.last as last_word,
            of.head as head_word, of.cluster as cluster,
            of.kind::enum ('pronoun', 'proper', 'nominal') as mention_type,
            list_bool_or(masked[word_spans[2 * of.first + 1] + 1:word_spans[2 * of.last + 2]])
                as is_masked
        from (
            select *, index as seq, unnest(annotation.mentions) as of,
                unnest(range(len(annotation.mentions))) as mention
            from part)""",
}
"""The rows of each table; plain text has no words and no mentions."""
VOCABULARY_ROWS = "select token_id, min(token) as token from token group by token_id"
"""The rows of `vocabulary`, from those of `token`."""
