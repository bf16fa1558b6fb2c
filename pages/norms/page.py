"""Page on attention weights compared with the norms of weighted vectors (Kobayashi et al. 2020)."""

from analysis.statistics.norms import token_type_mixing
from pages.kit.kinds import Bars, HeadMap, Table
from pages.kit.page import data_page
from pages.kit.section import HEAD, Choices, Figure, Finding, Pick, Section
from pages.norms.dispersion import dispersion
from pages.norms.frequency import frequency
from pages.norms.opened_head import most_drawn
from pages.norms.relation import relation
from pages.norms.spectra import spectra
from pages.norms.transforms import by_gates
from pages.ui.store.inquiry import Inquiry
from pages.ui.words.quantities import QUANTITIES, ordered_types

_SET_APART = "token_type <> 'other'"


def heads_and_mean(inquiry: Inquiry, _: Choices) -> list[str]:
    return ["mean", *(str(head) for head in range(1, int(inquiry.store.run["n_heads"]) + 1))]


def types(inquiry: Inquiry, _: Choices) -> list[str]:
    """Token types of the file, special ones first."""
    frame = inquiry.ask(token_type_mixing.by_layer, head=None)
    return ordered_types(frame["token_type"])


def by_type(quantity: str, share: str = "") -> str:
    """SQL for means of a quantity by layer and token type, divided if `share` says by what."""
    return f"""
        select layer, token_type, quantity, mean{share} as mean, low{share} as low,
            high{share} as high, n_present
        from token_type_interval
        where quantity = '{quantity}' and head is not distinct from try_cast($layers_head as int)
        order by layer, token_type"""


def bars(quantity: str, *shown_with: str, share: str = "", **when: tuple[str, ...]) -> Figure:
    """Bars of a quantity, which stand beside those of another for some choices."""
    return Figure(
        f"{quantity}_share" if share else quantity,
        by_type(quantity, share),
        Bars(colour="token_type"),
        when={"quantity": (quantity, *shown_with), **when},
        half=True,
    )


LAYERS = Section(
    "layers",
    (token_type_mixing.TABLE,),
    picks=(
        Pick("layers_head", heads_and_mean, kind="select"),
        Pick("quantity", ("pair", *QUANTITIES)),
        Pick("norm_as", ("length", "share"), when={"quantity": ("pair", "weighted_norm")}),
    ),
    figures=(
        bars("attention", "pair"),
        bars("value_norm"),
        bars("weighted_norm", "pair", norm_as=("length",)),
        bars(
            "weighted_norm",
            "pair",
            share=" / sum(mean) over (partition by layer)",
            norm_as=("share",),
        ),
        Figure(
            "table",
            """
            select layer, token_type, max(mean) filter (quantity = 'attention') as attention,
                max(mean) filter (quantity = 'value_norm') as value_norm,
                max(mean) filter (quantity = 'weighted_norm') as weighted_norm,
                max(n_present) as n_present
            from token_type_interval where head is not distinct from try_cast($layers_head as int)
            group by all order by layer, token_type""",
            Table(columns=("layer", "token_type", *QUANTITIES, "n_present")),
        ),
    ),
    finding=Finding(
        f"""
        with rows as (
            from token_type_interval
            where quantity in ('attention', 'weighted_norm') and
                head is not distinct from try_cast($layers_head as int)),
        most as (
            select token_type from rows where quantity = 'attention' and {_SET_APART}
            group by token_type order by sum(mean) desc limit 1),
        peak as (
            select layer from rows where quantity = 'attention' and token_type = (from most)
            order by mean desc limit 1),
        parts as (
            select 1 as sentence, 'most' as part, *, token_type = (from most) as own from rows
            union all
            select 2, 'peak', *, token_type = (from most) from rows where layer = (from peak)
            union all
            select 3, 'together', *, {_SET_APART} from rows)
        select sentence, quantity || '_' || part as name, (from most) as token_type,
            (from peak) as layer,
            sum(mean) filter (own) / sum(mean) as value,
            sum(low) filter (own) / (sum(low) filter (own) + sum(high) filter (not own)) as low,
            sum(high) filter (own) / (sum(high) filter (own) + sum(low) filter (not own)) as high
        from parts where (from most) is not null group by all order by sentence, name desc"""
    ),
    lacks=by_gates,
)

HEADS = Section(
    "heads",
    (token_type_mixing.TABLE,),
    picks=(
        Pick("type", types, of="token_type"),
        Pick("scale", ("type", "all")),
        Pick("head", kind="head", default=lambda inquiry, _: most_drawn(inquiry)),
    ),
    figures=(
        Figure(
            "maps",
            """
            select layer, head, token_type, quantity, mean, low, high, max(mean) over (
                partition by quantity, if($scale = 'all', '', token_type)) as top
            from token_type_interval where head is not null
            qualify token_type = $type order by layer, head, quantity""",
            HeadMap(panel="quantity", panels=QUANTITIES, format=".4f", top="top"),
            click=HEAD,
        ),
    ),
    finding=Finding(
        """
        with heads as (
            select *, median(mean) over (partition by quantity) as median from token_type_interval
            where head is not null and token_type = $type
                and quantity in ('attention', 'weighted_norm')),
        best as (
            from heads qualify row_number() over (partition by quantity order by mean desc) = 1)
        select quantity as sentence, quantity as name, mean as value, low, high, layer, head,
            token_type, if(quantity = 'attention', '.0%', '.3f') as format
        from best where mean > 0
        union all by name
        select quantity as sentence, 'median' as name, median as value, median as low,
            median as high, if(quantity = 'attention', '.0%', '.3f') as format
        from best where mean > 0
        order by sentence, layer nulls last""",
        is_local=True,
    ),
    lacks=by_gates,
)

PAGE = data_page("norms", "an", (LAYERS, HEADS, relation, dispersion, spectra, frequency))

if __name__ == "__main__":
    PAGE.show()
