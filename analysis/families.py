"""The model families there are, as one table for readers; their files are `models/families`."""

from dataclasses import dataclass

from analysis.scopes import OUTPUT_NORM, PARALLEL, POST_NORM, PRE_NORM, SANDWICH_NORM, LayerOrder


@dataclass(frozen=True)
class Family:
    """Models with the same reading: their names, and the `model_type`s of their configurations.
    `stem` names the words about their statistics and refusals."""

    stem: str
    names: tuple[str, ...]
    types: tuple[str, ...]
    orders: tuple[LayerOrder, ...]
    reads: str = "text"


FAMILIES = (
    Family("bert", ("BERT", "RoBERTa", "ELECTRA"), ("bert", "roberta", "electra"), (POST_NORM,)),
    Family("deberta", ("DeBERTa 2", "DeBERTa 3"), ("deberta-v2",), (POST_NORM,)),
    Family("modernbert", ("ModernBERT",), ("modernbert",), (PRE_NORM,)),
    Family("t5", ("T5", "mT5"), ("t5", "mt5"), (PRE_NORM,)),
    Family("gpt2", ("GPT-2",), ("gpt2",), (PRE_NORM,)),
    Family(
        "llama",
        ("Llama", "Mistral", "Qwen 2", "Qwen 3"),
        ("llama", "mistral", "qwen2", "qwen3"),
        (PRE_NORM,),
    ),
    Family("experts", ("Mixtral", "Qwen 3 MoE"), ("mixtral", "qwen3_moe"), (PRE_NORM,)),
    Family("gemma", ("Gemma 2", "Gemma 3"), ("gemma2", "gemma3_text"), (SANDWICH_NORM,)),
    Family("olmo2", ("OLMo 2",), ("olmo2",), (OUTPUT_NORM,)),
    Family("gpt_neox", ("GPT-NeoX", "Pythia"), ("gpt_neox",), (PARALLEL, PRE_NORM)),
    Family(
        "vit",
        ("ViT", "DeiT", "ViT-MSN", "I-JEPA"),
        ("vit", "deit", "vit_msn", "ijepa"),
        (PRE_NORM,),
        "images",
    ),
    Family("dinov2", ("DINOv2",), ("dinov2", "dinov2_with_registers"), (PRE_NORM,), "images"),
    Family("dinov3", ("DINOv3",), ("dinov3_vit",), (PRE_NORM,), "images"),
)
