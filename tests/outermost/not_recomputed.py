"""Public views that no function here recomputes, with the reason, by name."""

from collections.abc import Iterator

_BY_TEXT = "rows of single texts, of which {} has the means, which are recomputed"
_INTERVALS = "{} with intervals and further quantities; that is recomputed, they are redrawn"
_BOTH = "{} by weights, which is recomputed, and the same formula with norms for weights"
_SUBSET = "{}, which is recomputed, with fewer or further rows and columns"
_TWIN = "held to a slow twin and laws; its ingredients are recomputed in {}"
_WHERE = "which rows of {} are shown or kept: a choice, no formula"
_GIVEN = "what the file was made of, or what is written of it; no formula"
_REASONS = {
    "parser_accuracy": "parsers are trained: their figures rest on the path of an optimiser",
    "parser_accuracy_setting": "as parser_accuracy",
    "query_key_phase": "the planes of a rotation whose null space is completed by convention",
    "sequence_query_key_phase": "as query_key_phase",
    "query_key_rotation": "as query_key_phase",
    "query_key_wave": "signs and order of singular directions are a convention",
    "position_spectrum_control, other controls": "they are drawn; planted waves hold them",
    "coreference_accuracy_weighing, method sieve": "it rests on features of words, not in a file",
    "relevance_summary, rule gradient_attention": "the bare models have no classes; a twin has",
    "offset_term": "the bare models have no terms of offsets; a slow twin and T5's bias do",
    "query_key_error": "how far the program is from itself; here it is from the bare model",
    "layer_completeness": "as completeness, of whole layers; the parts are recomputed there",
    "sequence_completeness": "as completeness, of single texts",
    "class_prediction": "what the model's own classifier says, taken over as it is",
    "word_vector": "vectors of words from a file that is given",
    "vector_completeness": "as completeness, of vectors that are followed through layers",
}
_ALIKE = {
    _BY_TEXT: {
        "gradient_importance": "sequence_gradient_importance",
        "head_pattern": "sequence_head_pattern",
        "mixing_ratio": "sequence_mixing_ratio",
        "relative_position_profile": "sequence_relative_position",
        "relevance_summary": "sequence_relevance",
        "rollout": "sequence_rollout",
        "scope_similarity": "sequence_scope_similarity",
        "sink": "sequence_sink",
        "no_token": "sequence_no_token",
        "sink_score": "sequence_sink_score",
        "massive_activation": "sequence_massive_activation",
    },
    _INTERVALS: {
        "gradient_importance": "gradient_importance_objective",
        "head_pattern": "head_pattern_interval",
        "mixing_ratio": "mixing_ratio_interval",
        "pair_delta": "pair_delta_interval",
        "relevance_summary": "relevance_interval",
        "scope_similarity": "scope_similarity_interval",
    },
    _BOTH: {
        "coreference_accuracy_weighing": "coreference_difference",
        "dependency_accuracy_weighing": "dependency_difference",
        "head_distance_weighing": "head_distance_agreement",
        "head_layout": "head_layout_weighing",
        "head_pattern_weighing": "sequence_head_pattern_weighing",
    },
    _SUBSET: {
        "coreference_accuracy_weighing": "coreference_accuracy coreference_accuracy_merging",
        "dependency_accuracy_weighing": "dependency_accuracy dependency_accuracy_merging",
        "head_distance_weighing": "head_distance head_distance_mean",
        "head_layout": "head_layout_stress",
        "head_pattern_weighing": "head_pattern",
        "query_key_correlation_mean": "query_key_correlation",
        "relative_position_cluster": "relative_position_clustering",
    },
    _TWIN: {
        "attention_norm_correlation": "attention_norm_histogram",
        "pair_delta": "pair pair_pmi_correlation relation_share sequence_relation_change",
        "position_spectrum": "embedding_spectrum state_spectrum",
        "head_distance_weighing": "head_linkage head_linkage_weighing layer_cohesion "
        "layer_cohesion_weighing",
        "head_offset": "offset_agreement",
        "relative_position_profile": "patch_offset",
        "relevance_map": "perturbation relevance_agreement sequence_perturbation "
        "sequence_relevance_agreement",
        "token_type_mixing": "contribution effect_prediction head_effect "
        "sequence_contribution sequence_head_effect",
        "completeness": "sequence_vector_agreement sequence_vector_rollout vector_agreement "
        "vector_rollout",
        "dependency_accuracy": "dependency_prediction dependency_prediction_weighing "
        "word_attention",
        "coreference_accuracy": "coreference_prediction coreference_prediction_weighing",
    },
    _WHERE: {
        "coreference_accuracy": "coreference_best coreference_best_weighing",
        "dependency_accuracy": "dependency_best dependency_best_weighing",
        "pair_delta": "pair_extreme pair_occurrence",
        "relative_position_cluster": "relative_position_centre",
    },
    _GIVEN: {
        "": "image manifest mention provenance scope vocabulary word",
    },
}
"""Views by reason and by the view that stands for them."""


def _every() -> Iterator[tuple[str, str]]:
    yield from _REASONS.items()
    for reason, views in _ALIKE.items():
        for of, names in views.items():
            yield from ((name, reason.format(of)) for name in names.split())


NOT_RECOMPUTED = dict(_every())
