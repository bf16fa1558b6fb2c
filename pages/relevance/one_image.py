"""Relevance of one image: the chosen map, all heads, and all start layers."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from analysis.relevance_rules import MEAN_WEIGHTS, RULES
from analysis.statistics import image
from analysis.statistics.relevance import relevance_map, relevance_summary
from pages.relevance.choices import (
    head_names,
    layer_name,
    pick_head,
    pick_image,
    pick_layer,
    pick_own_scale,
    pick_rule,
)
from pages.relevance.image_facts import facts, finding
from pages.relevance.maps.image_map import OUTLINES, PANEL, image_maps, map_frame
from pages.relevance.maps.layout import Panel
from pages.relevance.maps.source import MEAN, LiveMaps, MapSource, StoredMaps
from pages.relevance.rules import rule_meaning, rule_name
from pages.ui.charts.image_ground import ImageGround
from pages.ui.choices.links import link_to_sequence
from pages.ui.choices.picker import choose
from pages.ui.fact_grid import STYLE, fact_grid
from pages.ui.live import live_model as live
from pages.ui.page import section
from pages.ui.view import View

_LARGE = 290
_TWO_ROWS_OF_FOUR = range(6, 9)  # of heads with their mean: larger than five beside each other


@section(
    "map",
    relevance_map.TABLE,
    also=(relevance_summary.PER_SEQUENCE, image.TABLE),
    when=lambda store: store.shows_images,
)
def one_image(view: View) -> None:
    is_own = view.pick("whose", ("file", "own")) == "own"
    source = _own(view) if is_own else pick_image(view)
    if source is None:
        return
    rule = pick_rule(view, source.rules)
    layer = pick_layer(view, source.layers(rule, MEAN))
    head = pick_head(view, source.heads(rule, layer))
    view.note(f"**{rule_name(rule)}:** {rule_meaning(rule)} {_start(view, rule, layer)}")
    _maps(view, source, rule, layer, head)
    if isinstance(source, StoredMaps):
        view.draw(link_to_sequence, source.seq)
        _kept(view)


def _own(view: View) -> LiveMaps | None:
    """Return the maps of an uploaded image, or None, with the reason, if there are none.

    They are computed for the reader and stored nowhere.
    """
    if not live.reachable(view):
        return None
    help = view.say("own_help", limit=live.MAX_UPLOAD)
    upload = live.upload_box(view, view.say("own"), help=help)
    if upload is None:
        view.write("caption", view.say("own_empty"))
        return None
    relevance = live.relevance_of_image(view, upload)
    if relevance is None:
        return None
    return LiveMaps(upload.file_id, relevance, view.store.layers)


def _kept(view: View) -> None:
    """Say how many images have stored maps, unless all have."""
    images = view.ask(image.images)
    n, kept = len(images), int(images["kept"].sum())
    if kept < n:
        view.write("caption", view.say("some_kept", kept=f"{kept:,}", n=f"{n:,}"))


def _start(view: View, rule: str, layer: int) -> str:
    """Name the layer where relevance starts; empty for methods without backpropagation."""
    if rule not in (*RULES, *MEAN_WEIGHTS):
        return ""
    return view.say(f"start_{view.store.facts['relevance_start']}", layer=layer)


def _maps(view: View, source: MapSource, rule: str, layer: int, head: str) -> None:
    """Draw the chosen map with the picture and numbers, then all heads and all layers."""
    maps, ground = source.heads(rule, layer), source.ground
    summary, names = source.summary(rule, layer, head), head_names(maps)
    view.finding(finding(source, maps[head], summary))
    first = view.place("container")
    outline, own_scale = view.pick("under", OUTLINES), pick_own_scale(view)
    state = "_".join(map(str, (source.name, rule, layer, head, outline, own_scale)))

    def figure(name: str, panels: list[Panel], caption: str, **options: Any) -> None:
        """Draw maps side by side; `options` are those of `image_maps`."""
        view.figure(
            name,
            map_frame(ground, panels),
            image_maps(ground, panels, outline=outline, own_scale=own_scale, **options),
            state=state,
            click=partial(_choose, view, name) if "marked" in options else None,
            caption=caption,
            width="content",
            rule=rule_name(rule),
            layer=layer,
            head=names[head],
        )

    def choosable(name: str, panels: list[Panel], **options: Any) -> None:
        """Draw all maps of one kind; a click on a map chooses it."""
        if len(panels) == 1:
            return view.nothing(f"{name}_none", rule=rule_name(rule))
        scales = view.say("own_scales" if own_scale else "one_scale")
        figure(name, panels, f"{view.say(f'{name}_caption')} {scales}", **options)

    with first:
        left, right = view.split([3, 1])
    with left:
        chosen, caption = Panel(head, names[head], maps[head]), " ".join(_captions(view, ground))
        figure("one", [chosen], caption, columns=2, pictured=True, side=_LARGE)
    with right:
        view.write("html", STYLE + fact_grid(facts(source, maps[head], summary)))
    heads = [Panel(name, names[name], relevance) for name, relevance in maps.items()]
    layers = [Panel(name, layer_name(name), r) for name, r in source.layers(rule, head).items()]
    columns = 4 if len(heads) in _TWO_ROWS_OF_FOUR else 5
    choosable("heads", heads, marked=head, columns=columns)
    choosable("layers", layers, marked=str(layer), columns=min(max(len(layers), 4), 6))


def _choose(view: View, name: str, mark: Mapping[Any, Any]) -> None:
    """Choose the head or the layer whose map was clicked."""
    if name == "heads":
        choose(view.key("head"), str(mark[PANEL]))
    else:
        choose(view.key("layer"), int(mark[PANEL]))


def _captions(view: View, ground: ImageGround) -> Iterator[str]:
    yield view.say("one_caption")
    if tokens := ground.class_tokens:
        yield view.say("one_caption_bar", tokens=tokens)
    if ground.other_special:
        yield view.say("one_caption_special")
    if len(ground.outline()):
        yield view.say("one_caption_mask")
