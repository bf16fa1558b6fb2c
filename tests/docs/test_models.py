"""Models that the documentation names are read and proved."""

import re

from tests.analysis.models.test_every_type import READ
from tests.docs.written import ROOT, text_of

TYPES = {
    **{"data2vec": "data2vec-text", "DeBERTa 3": "deberta-v2", "Gemma 3": "gemma3_text"},
    **{"DeepSeek 2": "deepseek_v2", "DeepSeek 3": "deepseek_v3", "DINOv3": "dinov3_vit"},
    **{"CLIP": "clip_vision_model", "SigLIP": "siglip_vision_model"},
}
"""Types of models with another name than their own."""


def letters(name: str) -> str:
    return re.sub(r"[\W_]", "", name).lower()


def named_in_guide() -> set[str]:
    """Names in the table of the guide to running."""
    table = text_of("docs/running.md").partition("| kind | such as |")[2].partition("\n\n")[0]
    rows = [row.split(" | ")[1].strip(" |") for row in table.splitlines()[2:]]
    return {name for row in rows for name in row.split(", ")}


def test_every_model_that_the_guide_to_running_names_is_read_and_proved():
    assert len(named_in_guide()) > 60
    read = {letters(name) for name in READ}
    assert not [name for name in named_in_guide() if letters(TYPES.get(name, name)) not in read]


def test_the_first_page_names_some_of_them():
    [models] = re.findall(r"^Models: (.*?); a model's parts", text_of("README.md"), re.MULTILINE)
    groups = re.findall(r"\(([^)]+), …\)", models)
    assert len(groups) == len(re.findall(r"\(", models)) > 2
    assert {name for group in groups for name in group.split(", ")} <= named_in_guide()


def test_refusals_are_quoted_as_they_are_said():
    """Each sentence in quotation marks is in the code, but for what stands in its place of `…`."""
    section = " ".join(
        text_of("docs/running.md").partition("\n## Models\n")[2].partition("\n## ")[0].split()
    )
    code = "".join(
        path.read_text(encoding="utf-8") for path in (ROOT / "analysis" / "models").rglob("*.py")
    )
    said = re.sub(r'"\s+f?"', "", code)
    quoted = re.findall(r"“([^”]+)”", section)
    assert len(quoted) > 5
    for sentence in quoted:
        assert all(part.strip(" .") in said for part in sentence.split("…")), sentence
