"""Public views that no function here recomputes, by the reason."""

_REASONS = {
    "rows of single texts, whose means are recomputed": """
        sequence_contribution sequence_gradient_importance sequence_head_effect
        sequence_head_pattern sequence_head_pattern_weighing sequence_massive_activation
        sequence_mixing_ratio sequence_no_token sequence_perturbation sequence_relation_change
        sequence_relative_position sequence_relevance sequence_relevance_agreement sequence_rollout
        sequence_scope_similarity sequence_sink sequence_sink_score""",
    "a view that is recomputed, with intervals, which are redrawn": """
        gradient_importance_objective head_pattern_interval mixing_ratio_interval
        pair_delta_interval relevance_interval scope_similarity_interval""",
    "a view that is recomputed, with fewer or further rows and columns": """
        coreference_accuracy coreference_accuracy_merging coreference_difference
        dependency_accuracy dependency_accuracy_merging dependency_difference head_distance
        head_distance_mean head_layout_weighing head_linkage
        head_linkage_weighing head_pattern head_pattern_difference layer_cohesion pair_delta
        query_key_correlation""",
    "held to a slow twin and laws": """
        attention_norm_histogram contribution coreference_prediction
        coreference_prediction_weighing dependency_baseline dependency_prediction
        dependency_prediction_weighing effect_prediction embedding_spectrum
        frequency_correlation gradient_importance head_effect
        offset_agreement offset_term patch_offset perturbation relative_position_cluster
        relative_position_clustering relevance_agreement sequence_vector_agreement
        sequence_vector_rollout state_spectrum vector_agreement vector_rollout word_attention""",
    "which rows of other views are shown or kept: a choice, no formula": """
        coreference_best coreference_best_weighing dependency_best dependency_best_weighing
        exemplar_attention massive_coordinate pair_extreme pair_occurrence
        relative_position_centre""",
    "what the file was made of, or what is written of it; no formula": """
        class_prediction image manifest mention provenance run scope vocabulary word word_vector""",
    "errors of sums, which are nearly 0; their parts are recomputed": """
        completeness layer_completeness query_key_error sequence_completeness
        vector_completeness""",
    "parsers are trained: their figures rest on the path of an optimiser": """
        parser_accuracy parser_accuracy_setting""",
    "planes, signs or order of directions are a convention": """
        head_layout head_layout_stress
        query_key_phase query_key_rotation query_key_wave sequence_query_key_phase""",
}
NOT_RECOMPUTED = {name: reason for reason, names in _REASONS.items() for name in names.split()} | {
    "position_spectrum_control": "controls are drawn; planted waves hold them",
    "coreference_accuracy_weighing, method sieve": "it rests on features of words, not in a file",
    "relevance_summary": "its numbers are those of maps reckoned by hand",
}
