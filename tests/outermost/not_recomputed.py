"""Public views that no function here recomputes, with the reason, by name."""

from collections.abc import Iterator

_BY_TEXT = "rows of single texts, of which {} has the means, which are recomputed"
_INTERVALS = "{} with intervals and further quantities; that is recomputed, they are redrawn"
_BOTH = "{} by weights, which is recomputed, and the same formula with norms for weights"
_SUBSET = "{}, which is recomputed, with further columns"
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
    "coreference_accuracy, method sieve": "agreement rests on the corpus's features, not in a file",
    "relevance_summary, other rules": "only rules i to iv are defined by the reference",
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
        "sequence_gradient_importance": "gradient_importance",
        "sequence_head_pattern": "head_pattern",
        "sequence_mixing_ratio": "mixing_ratio",
        "token_mixing_ratio": "mixing_ratio",
        "sequence_relative_position": "relative_position_profile",
        "sequence_relevance": "relevance_summary",
        "sequence_scope_similarity": "scope_similarity",
    },
    _INTERVALS: {
        "gradient_importance_objective": "gradient_importance",
        "head_pattern_interval": "head_pattern",
        "mixing_ratio_interval": "mixing_ratio",
        "pair_delta_interval": "pair_delta",
        "relevance_interval": "relevance_summary",
        "scope_similarity_interval": "scope_similarity",
        "token_type_interval": "token_type_mixing",
    },
    _BOTH: {
        "coreference_accuracy_weighing": "coreference_accuracy",
        "dependency_accuracy_weighing": "dependency_accuracy",
        "head_distance_weighing": "head_distance",
        "head_layout_weighing": "head_layout",
        "head_pattern_weighing": "head_pattern",
        "sequence_head_pattern_weighing": "head_pattern",
        "head_pattern_difference": "head_pattern",
        "head_distance_agreement": "head_distance",
        "coreference_difference": "coreference_accuracy",
        "dependency_difference": "dependency_accuracy",
    },
    _SUBSET: {
        "coreference_accuracy_merging": "coreference_accuracy",
        "dependency_accuracy_merging": "dependency_accuracy",
        "head_distance_mean": "head_distance",
        "head_layout_stress": "head_layout",
        "pair_delta_wide": "pair_delta",
        "query_key_correlation_mean": "query_key_correlation",
        "relative_position_clustering": "relative_position_cluster",
        "singular_value_linear": "singular_value",
        "position_spectrum_control": "position_spectrum",
    },
    _TWIN: {
        "attention_norm_histogram": "attention_norm_correlation",
        "bias_reading": "scope_similarity and mixing_ratio",
        "bias_reading_pair": "pair_delta",
        "sequence_bias_reading": "scope_similarity and mixing_ratio",
        "embedding_spectrum": "position_spectrum",
        "head_linkage": "head_distance",
        "head_linkage_weighing": "head_distance",
        "layer_cohesion": "head_distance",
        "layer_cohesion_weighing": "head_distance",
        "head_offset": "query_key_correlation and position_kernel",
        "offset_agreement": "query_key_correlation and position_kernel",
        "pair": "pair_delta",
        "pair_pmi_correlation": "pair_delta",
        "patch_offset": "relative_position_profile",
        "query_key_singular_value": "position_spectrum",
        "ratio_frequency_correlation": "mixing_ratio and frequency_correlation",
        "relation_share": "pair_delta",
        "sequence_relation_change": "pair_delta",
        "relevance_agreement": "relevance_map",
        "sequence_relevance_agreement": "relevance_map",
        "perturbation": "relevance_map",
        "sequence_perturbation": "relevance_map",
        "rollout": "scope_similarity",
        "sequence_rollout": "scope_similarity",
        "vector_rollout": "completeness",
        "sequence_vector_rollout": "completeness",
        "vector_agreement": "completeness",
        "sequence_vector_agreement": "completeness",
        "word_attention": "dependency_accuracy",
        "coreference_prediction": "coreference_accuracy",
        "coreference_prediction_weighing": "coreference_accuracy",
        "dependency_prediction": "dependency_accuracy",
        "dependency_prediction_weighing": "dependency_accuracy",
    },
    _WHERE: {
        "attention_norm_sample": "attention and norms",
        "coreference_best": "coreference_accuracy",
        "coreference_best_weighing": "coreference_accuracy",
        "dependency_best": "dependency_accuracy",
        "dependency_best_weighing": "dependency_accuracy",
        "exemplar_attention": "attention",
        "pair_extreme": "pair_delta",
        "pair_occurrence": "pair_delta",
        "relative_position_centre": "relative_position_cluster",
    },
    _GIVEN: dict.fromkeys(
        ("image", "manifest", "mention", "provenance", "scope", "vocabulary", "word"), ""
    ),
}


def _every() -> Iterator[tuple[str, str]]:
    yield from _REASONS.items()
    for reason, views in _ALIKE.items():
        yield from ((view, reason.format(of)) for view, of in views.items())


NOT_RECOMPUTED = dict(_every())
