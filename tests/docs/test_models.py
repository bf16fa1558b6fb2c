"""Models that the documentation names are read and proved."""

import re

from tests.analysis.models.test_every_type import READ
from tests.docs.written import ROOT, text_of

EXAMPLES = {
    "encoders": {
        **{"BERT": "bert", "RoBERTa": "roberta", "XLM-RoBERTa": "xlm-roberta", "ERNIE": "ernie"},
        **{"CamemBERT": "camembert", "ELECTRA": "electra", "data2vec": "data2vec-text"},
        **{"DistilBERT": "distilbert", "ALBERT": "albert", "ESM": "esm"},
        **{"ModernBERT": "modernbert", "NomicBERT": "nomic_bert", "MPNet": "mpnet"},
        **{"RemBERT": "rembert", "DeBERTa": "deberta", "DeBERTa 3": "deberta-v2"},
        **{"RoFormer": "roformer"},
    },
    "encoders of encoder-decoders": {"T5": "t5", "mT5": "mt5"},
    "decoders": {
        **{"GPT-2": "gpt2", "OPT": "opt", "BioGPT": "biogpt", "GPT-NeoX": "gpt_neox"},
        **{"Llama": "llama", "Mistral": "mistral", "Qwen 2": "qwen2", "Qwen 3": "qwen3"},
        **{"Gemma": "gemma", "Gemma 2": "gemma2", "Gemma 3": "gemma3_text", "Phi 3": "phi3"},
        **{"OLMo": "olmo", "OLMo 2": "olmo2", "OLMo 3": "olmo3", "Granite": "granite"},
        **{"Cohere": "cohere", "Cohere 2": "cohere2", "StarCoder 2": "starcoder2"},
        **{"SmolLM 3": "smollm3", "Helium": "helium", "Arcee": "arcee", "GLM 4": "glm4"},
        **{"BLOOM": "bloom", "MPT": "mpt", "Falcon": "falcon", "Apertus": "apertus"},
        **{"XGLM": "xglm"},
    },
    "decoders with experts": {
        **{"Mixtral": "mixtral", "Qwen 2 MoE": "qwen2_moe", "Qwen 3 MoE": "qwen3_moe"},
        **{"OLMoE": "olmoe", "GLM 4 MoE": "glm4_moe", "MiniMax M2": "minimax_m2"},
    },
    "decoders with latent attention or gates after it": {
        **{"DeepSeek 2": "deepseek_v2", "DeepSeek 3": "deepseek_v3", "Youtu": "youtu"},
        **{"MiniCPM 3": "minicpm3", "AFMoE": "afmoe", "Laguna": "laguna"},
    },
    "models of images": {
        **{"ViT": "vit", "DeiT": "deit", "ViT-MSN": "vit_msn", "I-JEPA": "ijepa", "BEiT": "beit"},
        **{"DINOv2": "dinov2", "DINOv3": "dinov3_vit", "RADIO": "radio"},
        **{"CLIP": "clip_vision_model", "SigLIP": "siglip_vision_model"},
    },
}
"""Names of models and their types, by kind."""
EVERY = {name: kind for kinds in EXAMPLES.values() for name, kind in kinds.items()}


def test_the_guide_to_running_names_them_by_kind():
    assert {*EVERY.values()} <= {*READ}, "a type that is not read, and proved in test_every_type"
    rows = [f"| {kind} | {', '.join(names)} |" for kind, names in EXAMPLES.items()]
    table = "\n".join(["| kind | such as |", "| --- | --- |", *rows])
    assert table in text_of("docs/running.md"), table


def test_the_first_page_names_some_of_them():
    [models] = re.findall(r"^Models: (.*?); a model's parts", text_of("README.md"), re.MULTILINE)
    groups = re.findall(r"\(([^)]+), …\)", models)
    assert len(groups) == len(re.findall(r"\(", models)) > 2
    assert {name for group in groups for name in group.split(", ")} <= set(EVERY)


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
