"""Findings of pages: rows that are planted in a file, and the sentence they make in both languages.

How sentences are written is asked by `test_grammar`; here, which numbers a section holds against
which, and what it says of them.
"""

from collections.abc import Sequence

import pytest

from tests.pages.kit.after import after_of
from tests.pages.kit.ran import FOR_ALL, ran, spoken
from tests.pages.kit.statements import (
    ABLATED,
    AGREEMENT,
    AROUND_NETWORK,
    AROUND_RESIDUAL,
    CLS,
    CLUSTERED,
    FEW,
    FLAT,
    LIFTED,
    MENTIONS,
    OF_ALL,
    PEAK,
    PLAIN,
    RELATIONS,
    RUN_AGAIN,
    SHARES,
    SINK,
    THREE,
    UNEVEN,
    WIDE,
    ZEROS,
    agree,
    area,
    best,
    changed,
    changed_pairs,
    gradient,
    mixing,
    parsers,
    pattern,
    put,
    relation,
    rho,
    sets,
    sink,
    summary,
    within,
)

after_turned, after_gpt2 = after_of("turned_folder"), after_of("gpt2_folder")
PLANTS: list[tuple[str, Sequence[str], str, str]] = [
    (
        "norms/layers",
        [mixing("attention", 0.4), mixing("norm_share", 0.1)],
        "**[CLS] draws most attention, but less arrives from it**: share of the length "
        "‖αf(x)‖ that arrives from [CLS], over all layers, 10% [9%, 11%], below its share",
        "**注意を最も集めるのは [CLS] だが、そこから届くものはそれより少ない**：届く長さ "
        "‖αf(x)‖ のうち [CLS] が占める割合（全層の平均）は 10% [9%, 11%]",
    ),
    (
        "gpt2: norms/layers",
        [mixing("attention", 0.8, "first"), mixing("norm_share", 0.3, "first")],
        "that arrives from the first token, over all layers, 30%",
        "先頭のトークンが占める割合（全層の平均）は 30% [29%, 31%]",
    ),
    (
        "norms/relation",
        [
            rho("median", 0.0),
            rho("median", -0.4, 0.5, "token_type = 'sep'"),
            rho("median", -0.2, 0.01, "token_type = 'other'"),
        ],
        "**Within heads, the more weight a token “other” gets, the shorter its vector**: ρ "
        "of α and ‖f(x)‖ for “other”, median of 6 of 6 heads, −0.20 [−0.21, −0.19],",
        "**ヘッド内では、「その他」が受ける重みが大きいほどベクトルは短い**：「その他」での"
        " α と ‖f(x)‖ の ρ（6 ヘッド中 6 ヘッドの中央値）は −0.20 [−0.21, −0.19]",
    ),
    (
        "norms/relation",
        [rho("median", -0.3, 0.1), rho("between_heads_spearman", 0.8, 0.1)],
        "Between the heads of a layer, ρ of their means for “[CLS]” +0.80 [+0.70, +0.90], above 0.",
        "層内のヘッド平均どうしの ρ（[CLS]）は +0.80 [+0.70, +0.90] で、0を上回ります。",
    ),
    (
        "norms/transformation",
        [
            put("value_norm_dispersion", "cv = 0.3", "layer is not null"),
            put("input_norm_dispersion", "cv = 0.1"),
        ],
        "In a head, the lengths ‖f(x)‖ have a coefficient of variation of 0.30, against "
        "that of the lengths ‖x‖ that it reads, 0.10 (without intervals).",
        "ヘッド内での長さ ‖f(x)‖ の変動係数（ヘッドの平均）は "
        "0.30、比較対象はそのヘッドへの入力の長さ ‖x‖ の変動係数（0.10）です（区間なし）。",
    ),
    (
        "norms/frequency",
        [sets("frequency_correlation", 0.7, 0.1, of="within_sequences_spearman")],
        "**Rarer words have longer vectors**: ρ of frequency rank (1: the most frequent) "
        "and ‖f(x)‖ within texts, without special tokens, +0.70 [+0.60, +0.80], above 0.",
        "**低頻度の語ほどベクトルが長い**：テキスト内での語の頻度順位（1が最頻）と ‖f(x)‖ "
        "の ρ（特殊トークンを除く）は +0.70 [+0.60, +0.80] で、0を上回ります。",
    ),
    (
        "habits/layers?hh_weighing=norm&hh_group=from_sep",
        [
            pattern(0.4, 0.05, "quantity = 'sep_to_sep' and weighing = 'norm'"),
            pattern(0.1, 0.05, "quantity = 'other_to_sep' and weighing = 'norm'"),
        ],
        "**[SEP] looks at [SEP] more than other tokens do**: share of its attention that "
        "[SEP] gives to [SEP], mean over layers and heads, 40.0% [35.0%, 45.0%], above",
        "**[SEP] はほかのトークンより強く [SEP] を見る**：[SEP] が [SEP] "
        "に向ける注意の割合（全層・全ヘッドの平均）は 40.0% [35.0%, 45.0%] "
        "で、ほかのトークンが [SEP]",
    ),
    (
        "gpt2: habits/layers",
        [pattern(0.7, 0.05, "quantity = 'first'")],
        "“first token”, mean over layers and heads, 70.0%",
        "「先頭のトークン」への注意の割合（全層・全ヘッドの平均）は 70.0%",
    ),
    (
        "habits/layers?hh_group=breadth",
        [
            pattern(2, 0.1, "quantity = 'uniform'"),
            pattern(1, 0.1, "quantity = 'entropy'"),
            pattern(1.9, 0.2, "quantity = 'entropy' and layer = 2 and head > 1"),
        ],
        "2 of 6 heads reach 90% of the entropy of uniform attention, 0 of them by their "
        "whole interval.",
        "6 ヘッド中 2 ヘッドが、均等な注意のエントロピーの90%に達します（うち 0 "
        "ヘッドは区間全体が上回ります）。",
    ),
    (
        "habits/layers?hh_group=special",
        [
            *CLS,
            pattern(0.6, 0.05, "quantity = 'cls' and layer = 2 and head = 1"),
            pattern(0.52, 0.05, "quantity = 'cls' and layer = 2 and head = 2"),
        ],
        "2 of 6 heads give more than half of a token's attention to one of these, 1 of "
        "them by their whole interval.",
        "6 ヘッド中 2 ヘッドが、注意の半分以上をこのいずれか1つに向けています（うち 1 "
        "ヘッドは区間全体が半分を上回ります）。",
    ),
    (
        "habits/heads?hh_quantity=cls",
        [FEW],
        "**By the thresholds of Clark et al., none of 6 heads has one main habit.**",
        "**Clark らのしきい値では、6 ヘッドのいずれにも主な傾向はありません。**",
    ),
    (
        "habits/heads?hh_quantity=cls",
        [FEW, pattern(0.62, 0.05, "quantity = 'sep' and layer = 1")],
        "**By the thresholds of Clark et al., 3 of 6 heads have one main habit**: "
        "\\[SEP\\] 3 (in 0 the whole interval is above the threshold).",
        "**Clark らのしきい値では、6 ヘッド中 3 ヘッドに主な傾向があります**：\\[SEP\\] "
        "3（うち区間全体がしきい値を上回るのは 0 ヘッド）。",
    ),
    (
        "habits/heads?hh_weighing=difference&hh_quantity=cls",
        [
            changed(0, "true"),
            changed(-0.3, "layer = 1 and head is not null"),
            changed(0.3, "layer = 2 and head = 1"),
        ],
        "Of 6 heads it is less by norms in 3 and more in 1, by intervals that exclude 0; "
        "in 2 no difference is clear.",
        "6 ヘッド中、ノルムで小さくなるのは 3、大きくなるのは 1 ヘッド（区間が 0 "
        "を含まない）、残る 2 ヘッドでは明確な差がありません。",
    ),
    (
        "habits/matters?hh_filling=mean",
        [*CLS, gradient(1, "true"), gradient(0, "token_type = 'cls'"), ABLATED],
        "Of the gradient |∂L/∂α| (L: ‖mean hidden state‖², no loss), attention to [CLS] "
        "has 0.0%, below its share of the weight, 30.0% [29.0%, 31.0%]; with f(x) of",
        "[CLS] への注意が勾配 |∂L/∂α|（L：隠れ状態の平均の "
        "‖·‖²、損失ではない）に占める割合は 0.0% で、注意重みに占める割合（30.0% [29.0%, "
        "31.0%]）を下回ります（[CLS]",
    ),
    (
        "habits/matters?hh_filling=mean",
        [
            within("is not null", 0.2, 0.2),
            within("= 'share'", 0.8, 0.1),
            within("= 'random'", 0.1, 0.2),
        ],
        "Of 6 measures signed share foretells best which heads of a layer have an effect, "
        "with ρ = +0.80 [+0.70, +0.90], above another head of the layer at random,",
        "6個の指標のうち、層内でヘッドの影響を最もよく予測する「符号つき寄与」の ρ は "
        "+0.80 [+0.70, +0.90] で、同じ層の無作為なヘッド（+0.10 [−0.10,",
    ),
    (
        "turned: habits/matters?hh_filling=mean",
        [
            pattern(0.1, 0, "quantity <> 'uniform'"),
            pattern(0.5, 0, "quantity = 'first'"),
            put("gradient_importance", "importance = if(token_type = 'bos', 6, 3)"),
            "delete from stored.gradient_importance where token_type not in ('bos', 'other')",
        ],
        "attention to BOS has 66.7%, against its share of the weight, 50.0% (without intervals)",
        "に占める割合は 66.7%、比較対象は注意重みに占める割合（50.0%）です（区間なし）",
    ),
    (
        "gpt2: habits/matters?hh_filling=mean",
        [
            put("gradient_importance", "importance = if(token_type = 'first', 1, 3)"),
            "delete from stored.gradient_importance where token_type not in ('first', 'other')",
        ],
        "attention to the first token has 25.0%",
        "に占める割合は 25.0%",
    ),
    (
        "coreference/rules",
        [MENTIONS],
        "**A head finds antecedents better than the rules**: on texts that it was not "
        "chosen on (half B), L2·H1, the best of 6 on half A, is right for 60% of 50",
        "**ルールよりうまく先行詞を見つけるヘッドがある**：選択に使っていない分割Bの言及 "
        "50 件で、分割Aで 6 個から選んだ L2·H1 の正解率は 60%、多段ルールは 40%",
    ),
    (
        "coreference/rules",
        [MENTIONS, best("n = 29")],
        "On texts that it was not chosen on (half B), L2·H1, the best of 6 on half A, is "
        "right for 60% of 29 mentions, the sieve of rules for 40%: fewer than 30",
        "選択に使っていない分割Bの言及 29 件で、分割Aで 6 個から選んだ L2·H1 の正解率は "
        "60%、多段ルールは 40% です（30 件未満で、優劣の判断には足りません）。",
    ),
    (
        "syntax/relations?sy_least=10",
        [*THREE, WIDE],
        "**For 1 of 3 relations with 30 words or more the best head finds more governors "
        "than any fixed offset**, on sentences that it was not chosen on.",
        "**30 語以上ある 3 種類の関係のうち 1 種類で、最良のヘッドはどの固定オフセットより"
        "も多くの主辞を当てます**（選択に使っていない文で評価）。",
    ),
    (
        "syntax/relations?sy_least=1",
        [
            *THREE,
            WIDE,
            relation("n = 10, difference = 0.9", "relation = 'nsubj'"),
            relation("difference = 0.9, difference_low = null", "relation = 'det'"),
        ],
        "**For 1 of 1 relations with 30 words or more the best head finds more governors "
        "than any fixed offset**, on sentences that it was not chosen on. On “obj · direct "
        "object” (40 words of random half B) L2·H3, the best on half A, finds 90% of the "
        "governors, the best fixed offset (−2) 40%: difference in points +50.0 [+20.0, +60.0]",
        "**30 語以上ある 1 種類の関係のうち 1 種類で、最良のヘッドはどの固定オフセットより"
        "も多くの主辞を当てます**（選択に使っていない文で評価）。",
    ),
    (
        "syntax/relations?sy_least=10",
        [*THREE, relation("difference_low = null")],
        "There are 3 relations with 30 words or more, but too few texts for intervals: "
        "whether heads find more governors than a fixed offset is open.",
        "30 語以上の関係は 3 種類ありますが、テキストが少なく区間がないため、ヘッドが固定オ"
        "フセットを上回るかどうかは分かりません。",
    ),
    (
        "syntax/relations?sy_least=10",
        [RELATIONS, relation("n = 29")],
        "No relation has 30 words or more to score: too few to compare heads with fixed offsets.",
        "評価する単語が 30 語以上ある関係がなく、ヘッドと固定オフセットを比べるには足りません。",
    ),
    (
        "syntax/heads?sy_relation=obj",
        [RELATIONS, WIDE, relation("low = 0.8, difference_low = -0.1")],
        "On “obj · direct object” (40 words) L2·H3 finds 90% of the governors, the best "
        "fixed offset (−2) 40%: difference in points +50.0 [−10.0, +60.0], not clearly",
        "「obj · 直接目的語」（40 語）では L2·H3 が主辞の "
        "90%、最良の固定オフセット（−2）が 40% を当て、その差（ポイント）は +50.0 [−10.0, "
        "+60.0]",
    ),
    (
        "syntax/heads?sy_relation=obj",
        [RELATIONS, WIDE, relation("n = 10")],
        "“obj · direct object” has only 10 words here, fewer than 30: too few to compare heads.",
        "「obj · 直接目的語」は 10 語しかなく（30 語未満）、ヘッドを比べるには足りません。",
    ),
    (
        "syntax/parsers",
        parsers(attention=0.6, distances_words=0.5, attention_shuffled=0.2),
        "**Attention contains more of the tree than words and their distance**: held-out "
        "governors that attention alone finds (5 splits, extremes in brackets) 60% [58%,",
        "**注意は、単語とその距離よりも構文木をよく表す**：学習に使わない文で注意だけから当"
        "てられる主辞（5 通りの分割の平均。角括弧は最小と最大）は 60% [58%, 62%]",
    ),
    (
        "layer_mixing/similarity",
        [
            sets("scope_similarity", 0.9, 0.05, of="spearman"),
            sets("scope_similarity", 0.5, 0.1, AROUND_NETWORK, of="spearman"),
            sets("scope_similarity", 0.7, 0.05, AROUND_RESIDUAL, of="spearman"),
        ],
        "**Of all steps through a layer, “feed-forward network” changes most which tokens "
        "mix with which**: ρ before and after “feed-forward network” 0.500 [0.400, 0.600], "
        "below that of “residual after attention”, 0.700 [0.650, 0.750].",
        "**層内で、どのトークンがどのトークンに混ざるかを最も変えるのは「フィードフォワード"
        "ネット」**：「フィードフォワードネット」の前後の ρ は 0.500 [0.400, 0.600]",
    ),
    (
        "layer_mixing/ratio",
        [
            sets("mixing_ratio", 0.3, 0.1, f"{OF_ALL} and scope like 'attn_res%'"),
            sets("mixing_ratio", 0.8, 0.1, f"{OF_ALL} and scope = 'attn'"),
        ],
        "**Attention alone overstates how much context a token takes in**: share of "
        "context in all tokens “after normalisation” 30.0% [20.0%, 40.0%], below “after",
        "**注意機構だけでは、混ざる文脈の割合が過大に見積もられる**：「正規化の後」での文脈"
        "の割合（全トークン）は 30.0% [20.0%, 40.0%] で、「注意機構の後」（80.0%",
    ),
    (
        "layer_mixing/frequency",
        [sets("ratio_frequency_correlation", -0.5, 0.1, of="within_sequences_spearman")],
        "**The more frequent a word, the more context it takes in**: ρ of frequency rank "
        "(1: the most frequent) and share of context “after normalisation”, within texts",
        "**高頻度の語ほど文脈が多く混ざる**：テキスト内での語の頻度順位（1が最頻）と「正規"
        "化の後」での文脈の割合の ρ（特殊トークンを除く）は −0.50 [−0.60, −0.40]",
    ),
    (
        "layer_mixing/modules",
        LIFTED,
        "**The feed-forward network acts most on pairs of the kind “neighbours”**: share "
        "of “neighbours” in the change (feed-forward network) over their share of the mixing "
        "before, mean over layers, 2.00 [1.50, 2.50], above 1. Layer by layer, the 95% interval "
        "is above 1 in 2 of 2 layers and below it in 0.",
        "**フィードフォワードネットが最も強く働くのは「隣接トークン」のペア**：フィードフォ"
        "ワードネットによる変化量に「隣接トークン」が占める割合の、前の混ぜ合わせに占め",
    ),
    (
        "layer_mixing/rollout",
        [
            sets("vector_rollout", 0.03, 0.001, "distance = 0"),
            sets("vector_rollout", 0.2, 0.01, "distance = 0 and scope = 'vectors'"),
        ],
        "**Followed as vectors, which can cancel, more of a token stays its own**: share "
        "of a token's own input in it after layer 2, by vectors, 20.0% [19.0%, 21.0%],",
        "**長さと違い打ち消し合えるベクトルで追うと、同じ位置の入力はロールアウトが示すより"
        "多く残る**：ベクトルで見た、第2層の後のトークンのうち同じ位置の入力に由来する",
    ),
    (
        "layer_mixing/completeness",
        [put("layer_completeness", "relative_error = 0.5")],
        "**The parts do not add up everywhere**: the largest relative error of a token is "
        "5\\.0·10⁻¹ (whole layer, layer 1), above the 1\\.0·10⁻³ that is allowed;",
        "**分解した部分の和が一致しない箇所がある**：トークンの相対誤差は最大 "
        "5\\.0·10⁻¹（層全体、第1層）で、許容値 1\\.0·10⁻³ を超えています。",
    ),
    (
        "sinks/layers",
        SINK,
        "**Attention gathers on [CLS]**: attention to [CLS], of the queries that can see "
        "it, 27.0% [26.9%, 27.1%], above even attention, 1.0% [0.9%, 1.1%], and the",
        "**注意は[CLS]に集まる**：[CLS]を参照できるクエリが[CLS]に向ける注意は 27.0% "
        "[26.9%, 27.1%] で、均等な注意（1.0% [0.9%, 1.1%]）と隣のトークン（2.0% [1.9%,",
    ),
    (
        "sinks/layers",
        [*SINK, *sink("sink", half=0.2, neighbour=0.2)],
        "**Attention does not clearly gather on [CLS]**: attention to [CLS], of the "
        "queries that can see it, 27.0% [26.9%, 27.1%], above even attention, 1.0% [0.9%,",
        "**注意が[CLS]に集まるとはいえない**：[CLS]を参照できるクエリが[CLS]に向ける注意は "
        "27.0% [26.9%, 27.1%] で、均等な注意（1.0% [0.9%,",
    ),
    (
        "sinks/layers",
        sink("sink", attention=0.1, even=0.2, neighbour=0.3),
        "**Attention avoids [CLS]**: attention to [CLS], of the queries that can see it, "
        "10.0% [9.9%, 10.1%], below even attention, 20.0% [19.9%, 20.1%], and the token",
        "**注意は[CLS]を避ける**：[CLS]を参照できるクエリが[CLS]に向ける注意は 10.0% "
        "[9.9%, 10.1%] で、均等な注意（20.0% [19.9%, 20.1%]）と隣のトークン（30.0% [29.9%,",
    ),
    (
        "sinks/heads",
        [put("sink", "mean = if(head = 2 and layer = 1, 0.5, 0.1)", "head >= 1")],
        "On average, 1 of 6 heads are above 30%.",
        "平均では、6 ヘッド中 1 ヘッドが 30% を超えます。",
    ),
    (
        "sinks/nothing",
        [
            *sink("head_effect", "token_type in ('cls', 'sep')", length=0.05),
            *sink("head_effect", "token_type = 'comma_period'", length=0.3),
        ],
        "Change of the last hidden states if comma/period brings nothing in any layer "
        "30.0% [29.9%, 30.1%], above [CLS], 5.0% [4.9%, 5.1%], and [SEP], 5.0% [4.9%, "
        "5.1%].",
        "全層でカンマ・ピリオドから何も届かないときの、最終層の隠れ状態の変化は 30.0% "
        "[29.9%, 30.1%] で、[CLS]（5.0% [4.9%, 5.1%]）と[SEP]（5.0% [4.9%,",
    ),
    (
        "sinks/scores",
        sink("sink_score", excess=2, direction=2.5, norm=-0.5, query_bias=1.5),
        "**The score of [CLS] lies above those of the other keys**: score of [CLS] above "
        "others, in nats, in layer 1, where it is highest, 2.000 [1.999, 2.001], above 0. "
        "Its largest part there, by the direction of the key, 2.500 [2.499, 2.501], above 0.",
        "そこで最大の成分（キーの向き）は 2.500 [2.499, 2.501] で、0を上回ります。",
    ),
    (
        "positions/claim?po_least=0",
        AGREEMENT,
        "**Queries and keys tell where attention goes more often than chance**: share of "
        "the 6 heads that attend most at exactly the offset where queries and keys correlate "
        "most 50% [40%, 60%], above chance, 10%.",
        "**クエリとキーのずれは、偶然より多くのヘッドで注意の向きを言い当てる**：クエリとキ"
        "ーの相互共分散が最大となる相対位置に注意が最も集まるヘッドの割合（全 6",
    ),
    (
        "positions/claim?po_least=0",
        [
            *AGREEMENT,
            put("head_offset", "score_offset = 0, attention_offset = 0", "layer = 2"),
            put("head_offset", "attention_offset = 2", "layer = 1 and head = 3"),
        ],
        "3 of the 5 heads that agree do so at offset 0, the token itself, where nothing is "
        "shifted.",
        "一致した 5 ヘッドのうち 3 ヘッドは相対位置 0（自分自身）での一致で、ずれはありません。",
    ),
    (
        "positions/heads",
        [
            put("head_offset", "dependence = 0.05"),
            put("head_offset", "dependence = 0.75", "layer = 2 and head = 3"),
        ],
        "Share of the variance of the attention weights of L2·H3 that the offset explains "
        "(η²), the largest of any head, 0.75, against the median of all heads, 0.05 (without "
        "intervals). 1 of 6 heads depend on relative position (η² ≥ 0.1).",
        "L2·H3 の注意重みの分散のうち相対位置で説明できる割合 η²（全ヘッドで最大）は "
        "0.75、比較対象は全ヘッドの中央値（0.05）です（区間なし）。",
    ),
    (
        "turned: positions/claim?po_least=0",
        AGREEMENT,
        "share of the 6 heads that attend most at exactly the offset with the highest score 50% "
        "[40%, 60%], above chance, 10%.",
        "スコアが最大となる相対位置に注意が最も集まるヘッドの割合（全 6 ヘッド）は 50% [40%, 60%]",
    ),
    (
        "positions/waves",
        [FLAT, PEAK],
        "**The position embeddings hold waves**: amplitude of the position embeddings at "
        "64 cycles per 512 tokens (8 tokens per wave) 50.0, above the highest of the",
        "**位置埋め込みは波を含む**：512トークンあたり 64 周期（周期 8 "
        "トークン）での位置埋め込みの振幅は 50.0 で、同じ位置埋め込みをランダムに並べ替えた"
        "ときの最大値（1.",
    ),
    (
        "positions/waves",
        [FLAT],
        "No wave stands out from its neighbours in these position embeddings.",
        "この位置埋め込みには、周囲から際立つ周波数がありません。",
    ),
    (
        "positions/waves?po_carrier=states",
        [FLAT, PEAK, *RUN_AGAIN],
        "Amplitude of the queries of layer 1 at 64 cycles per 512 tokens (8 tokens per "
        "wave) 8.00, against the same texts (2) without position embeddings, 1.00, and",
        "512トークンあたり 64 周期（周期 8 トークン）での第1層のクエリの振幅は "
        "8.00、比較対象は同じ 2 テキストで位置埋め込みを除いた場合（1.00）とそれをランダム"
        "に並べ替",
    ),
    (
        "positions/content",
        CLUSTERED,
        "5 of 6 heads fall into one cluster in at least 90% of their texts; the commonest "
        "is “both sides, weak” with 6 heads.",
        "6 ヘッド中 5 ヘッドは90%以上のテキストで同じクラスタに入ります。最も多いのは「左右"
        "・弱い」で 6 ヘッドです。",
    ),
    (
        "images: positions/heads?head=2-1",
        [
            put("patch_offset", "attention_per_pair = 0.03 * n_images"),
            put(
                "patch_offset",
                "attention_per_pair = 0.38 * n_images",
                "row_offset = -2 and column_offset = 1",
            ),
        ],
        "Attention of a pair of patches −2 rows and \\+1 columns apart in L2·H1, its "
        "highest mean, 38.0%, against the mean over all offsets, 4.0% (without intervals).",
        "L2·H1 で平均が最大の相対位置（行 −2・列 \\+1）にあるパッチのペアの注意は "
        "38.0%、比較対象は全相対位置の平均（4.0%）です（区間なし）。",
    ),
    (
        "turned: positions/content",
        SHARES,
        "due to position alone (mean over heads and layers) 50% [45%, 55%], above the query's "
        "content, 10% [5%, 15%]",
        "**スコアは内容より位置で決まる**：1つのクエリのスコアの差のうち位置だけによる割合"
        "（ヘッドと層の平均）は 50% [45%, 55%] で、クエリの内容（10% [5%,",
    ),
    (
        "head_map/map",
        [put("head_layout", "stress = 0.3")],
        "**The plane shows distances only roughly, and points that touch may be heads that "
        "differ**: its stress (Kruskal's stress-1, 0 is exact) 0.30, above what",
        "**平面上の距離は大まかな目安で、隣り合う点でも実際には異なるヘッドのことがある**："
        "ストレス（Kruskal の stress-1、0 なら正確）は 0.30 で、Kruskal",
    ),
    (
        "head_map/layers",
        [put("layer_cohesion", "within = 0.125, between = 0.25, p_value = 0.0001")],
        "**Heads of one layer attend more alike than heads of different layers**: mean "
        "distance 0.125 against 0.25 nats, p of a permutation test 0.0001, below 0.05.",
        "**同じ層のヘッドどうしは、異なる層のヘッドどうしより注意が似ている**：平均距離は同"
        "じ層で 0.125 nat、異なる層で 0.25 nat、並べ替え検定の p は 0.0001",
    ),
    (
        f"images: relevance/map?re_image={PLAIN}",
        [UNEVEN],
        "Of the relevance on this image's patches, the share of the 1 most relevant is "
        "60.0%, against an even map's, 8.3% (without intervals).",
        "この画像のパッチの関連度のうち上位 1 パッチが占める割合は "
        "60.0%、比較対象は均等なマップ（8.3%）です（区間なし）。",
    ),
    (
        "images: relevance/corpus",
        [summary(0.5), summary(0.9, "rule = 'ii'")],
        "The share inside the mask, carried back from layer 3, is largest by rule ii of "
        "the 5 drawn, 90.0% [89.0%, 91.0%], above an even map's, ",
        "第3層から遡ったマスク内の割合は、描いた 5 個のうちルール iiで最も大きく、その値は "
        "90.0% [89.0%, 91.0%] で、均等なマップ（",
    ),
    (
        "images: relevance/methods",
        [area(0.5), area(0.2, where="rule = 'iii'")],
        "**The class depends on the patches that rule iii finds**: The mean probability of "
        "the predicted class, while patches are taken away in order of relevance, is",
        "**分類はルール iiiの示すパッチに左右される**：関連度の順にパッチを消していく間の予"
        "測クラスの平均確率は、比べた 8 個のうちルール iiiで最も低く、その値は 20%",
    ),
    (
        "images: relevance/methods",
        [
            put("relevance_agreement", "mean = 0.5, low = 0.5, high = 0.5"),
            agree(0.99, "ii", "ii_mean_weights"),
            agree(0.75, "i", "iv"),
            agree(-0.25, "iii", "attention"),
        ],
        "The two that agree least are attention weights and rule iii, with a rank "
        "correlation ρ of −0.25, below that of rule i and rule iv, which agree most, 0.75.",
        "最も一致しない組は注意重みとルール iiiで、その順位相関 ρ は −0.25 "
        "で、最も一致するルール iとルール iv（0.75）を下回ります。",
    ),
    (
        "relevance/text",
        [put("relevance_map", f"relevance = [0.5, 0.1, 0.2] || {ZEROS} || [0.2]")],
        "Share of all relevance on “cat”, the most relevant token of this text, 20.00%, "
        "against an even share of what lies on the text, 3.75% (without intervals); the",
        "このテキストで関連度が最大のトークン「cat」が全体に占める割合は "
        "20.00%、比較対象はテキスト上の関連度の均等配分（3.75%）です（区間なし）（theは "
        "10.00%、satは",
    ),
    (
        "token_pairs/workbench?tp_source=cat&tp_target=sat",
        changed_pairs(0.0123, 0.001),
        "Change of the share of “cat” in “sat” (feed-forward network, layer 1, percentage "
        "points): +1.23 [+1.00, +1.46], above 0.",
        "「cat」→「sat」の割合の変化（第1層のフィードフォワードネット、ポイント）は +1.23 "
        "[+1.00, +1.46] で、0を上回ります。",
    ),
    (
        "token_pairs/workbench?tp_source=cat&tp_target=sat",
        changed_pairs(-0.0123, 1),
        "Change of the share of “cat” in “sat” (feed-forward network, layer 1, percentage "
        "points): −1.23 [−227.45, +224.99], not clearly different from 0.",
        "「cat」→「sat」の割合の変化（第1層のフィードフォワードネット、ポイント）は −1.23 "
        "[−227.45, +224.99] で、0との明確な差はありません。",
    ),
    (
        "token_pairs/pmi",
        [put("pair_pmi_correlation", "spearman = 0.3, low = 0.1, high = 0.6")],
        "Of 2 layers with an interval it is above 0 in 2 and below 0 in 0.",
        "区間のある 2 層のうち、0 を上回るのは 2 層、下回るのは 0 層です。",
    ),
]
"""File (trees unless named), page, section and choices; what is planted; part of the finding, with
a number that is reckoned from what is planted."""


@pytest.mark.parametrize(
    ("place", "statements", "english", "japanese"),
    PLANTS,
    ids=[f"{number} {place}" for number, (place, *_) in enumerate(PLANTS)],
)
def test_planted_rows_make_the_expected_sentence(place, statements, english, japanese, request):
    file, _, address = place.rpartition(": ")
    path, _, query = address.partition("?")
    choices = dict(part.split("=") for part in query.split("&") if part)
    request.getfixturevalue(f"after_{file or 'trees'}")(*statements)
    for lang, expected in (("en", english), ("ja", japanese)):
        with spoken(lang):
            found = ran(*path.split("/"), **FOR_ALL | choices).findings
        assert expected in " ".join(found)
