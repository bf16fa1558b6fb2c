-- Pairs of queries for the same numbers in two views: keys, and the value last.
-- Every row of the first has a row of the second.

-- attention by type of token: sums over tokens, habits of heads, and sinks where all keys are seen
select layer, head, token_type, mean from token_type_interval where quantity = 'attention' and token_type in ('cls', 'sep', 'comma_period');
select layer, head, quantity, mean from head_pattern_weighing where weighing = 'weight';
select layer, head, 'first', sum(mean) from token_type_interval where quantity = 'attention' and token_type in ('bos', 'first') group by all;
select layer, head, quantity, mean from head_pattern_weighing where weighing = 'weight';
select layer, head, token_type, mean from token_type_interval where quantity = 'attention' and not exists (from provenance where name = 'attention' and value = 'causal');
select layer, head, place, mean * n_sequences / (select n_sequences from run) from sink where quantity = 'attention';
-- shares of norms in the same three
select layer, head, token_type, mean from token_type_interval where quantity = 'norm_share' and token_type in ('cls', 'sep', 'comma_period');
select layer, head, quantity, mean from head_pattern_weighing where weighing = 'norm';
select layer, head, 'first', sum(mean) from token_type_interval where quantity = 'norm_share' and token_type in ('bos', 'first') group by all;
select layer, head, quantity, mean from head_pattern_weighing where weighing = 'norm';
select layer, head, token_type, mean from token_type_interval where quantity = 'norm_share' and not exists (from provenance where name = 'attention' and value = 'causal');
select layer, head, place, mean * n_sequences / (select n_sequences from run) from sink where quantity = 'norm_share';
-- norms
select layer, head, token_type, mean from token_type_interval where quantity = 'value_norm';
select layer, head, place, mean from sink where quantity = 'value_norm';
select layer, head, token_type, weighted_norm from token_type_mixing;
select layer, head, token_type, mean from token_type_interval where quantity = 'weighted_norm';
select layer, head, mean from value_norm_dispersion where head is not null;
select layer, head, avg(value_norm) from head_token group by all;
select layer, mean from input_norm_dispersion where layer is not null;
select layer, avg(input_norm) from token_norm group by all;
select layer, head, seq, key_pos, any_value(value_norm) from attention_norm_sample group by all;
select layer, head, seq, pos, value_norm from head_token;
select layer, head, token_type, sum(n) from attention_norm_histogram group by all;
select layer, head, token_type, n from attention_norm_correlation;
-- habits of heads
select layer, head, quantity, weight from head_pattern_difference;
select layer, head, quantity, mean from head_pattern_weighing where weighing = 'weight';
select layer, head, quantity, norm from head_pattern_difference;
select layer, head, quantity, mean from head_pattern_weighing where weighing = 'norm';
select layer, head, entropy from head_pattern;
select layer, head, avg(entropy) from sequence_head_pattern group by all;
select layer, head, self from head_pattern;
select layer, head, avg(profile[len(profile) // 2 + 1] / n_tokens) from sequence_relative_position group by all;
select layer_a, head_a, layer_b, head_b, divergence from head_distance;
select layer_a, head_a, layer_b, head_b, divergence from head_distance_weighing where weighing = 'weight';
-- offsets
select layer, head, "offset", attention from query_key_correlation where abs("offset") <= 10;
select layer, head, "offset", attention from relative_position_profile;
select layer, head, dependence from head_offset;
select layer, head, avg(dependence) from sequence_relative_position group by all;
select layer, head, attention_offset from head_offset;
select layer, head, arg_max("offset", attention) from query_key_correlation where abs("offset") <= 10 group by all;
select layer, head, score_offset from head_offset;
select layer, head, arg_max("offset", value) from query_key_correlation where abs("offset") <= 10 group by all;
select layer, head, attention_offset_per_pair from head_offset;
select layer, head, arg_max("offset", attention_per_pair) from query_key_correlation_mean where abs("offset") <= 10 group by all;
select layer, head, kernel_offset from head_offset where kernel_offset is not null;
select layer, head, arg_max("offset", kernel) from position_kernel where abs("offset") <= 10 group by all;
select layer, agreement from offset_agreement where counting = 'sum' and min_dependence = 0 and layer is not null;
select layer, avg((score_offset = attention_offset)::int) from head_offset group by all;
select frequency, mean from position_spectrum where source = 'position_embedding';
select frequency, mean from embedding_spectrum where control = 'kept';
select source, layer, frequency, mean from position_spectrum where source <> 'position_embedding';
select source, layer, frequency, mean from position_spectrum_control where control = 'kept' qualify length = arg_max(length, n_sequences) over ();
select layer, head, rank, any_value(value) from query_key_wave group by all;
select layer, head, rank, value from query_key_singular_value;
-- scopes, their mixing, and their names in views of pairs
select distinct scope, 1 from mixing_ratio where scope <> 'attn_w_res';
select scope, 1 from scope;
select distinct scope_a, 1 from scope_similarity;
select scope, 1 from scope;
select distinct effect, 1 from pair_delta;
select distinct effect, 1 from relation_share;
select layer, scope, token_type, mean from mixing_ratio where layer is not null;
select layer, scope, token_type, avg(mean) from sequence_mixing_ratio group by all;
select scope, mean from mixing_ratio where layer is null and token_type = 'all' and exists (from token_mixing_ratio);
select scope, avg(mean) from token_mixing_ratio group by all;
select layer, scope, token_type, distance, mean from vector_rollout where distance is null and scope <> 'vectors';
select layer, scope, token_type, distance, mean from rollout;
-- pairs
select 1, source, target, n from pair;
select layer, source, target, n from pair_delta_wide;
select layer, source, target, mean from pair_extreme where effect = 'ff' group by all;
select layer, source, target, mean_ff from pair_delta_wide;
select layer, effect, s.token, t.token, avg(delta) from pair_occurrence join vocabulary as s on s.token_id = source join vocabulary as t on t.token_id = target group by all;
select layer, effect, source, target, mean_delta from pair_delta;
-- probes
select weighing, merging, relation, layer, head, direction, accuracy from dependency_best_weighing where chosen_on = 'all';
select weighing, merging, relation, layer, head, direction, accuracy from dependency_accuracy_weighing;
select merging, relation, layer_norm, head_norm, direction_norm, accuracy_norm from dependency_difference where chosen_on = 'all';
select merging, relation, layer, head, direction, accuracy from dependency_accuracy_weighing where weighing = 'norm';
select relation, "offset", offset_accuracy from dependency_best where chosen_on = 'all' group by all;
select relation, "offset", accuracy from dependency_baseline;
select weighing, merging, mention_type, layer, head, accuracy from coreference_best_weighing where chosen_on = 'all' group by all;
select weighing, merging, mention_type, layer, head, accuracy from coreference_accuracy_weighing where method = 'head';
select mention_type, baseline, baseline_accuracy from coreference_best where chosen_on = 'all' group by all;
select mention_type, method, accuracy from coreference_accuracy where method <> 'head';
-- means of what views of single sequences hold
select layer, head, place, mean from sink where quantity = 'norm_share' and head is not null;
select layer, head, place, avg(norm_share) from sequence_sink group by all;
select depth, place, mean from massive_activation where quantity = 'largest';
select depth, place, avg(largest) from sequence_massive_activation group by all;
select filling, layer, head, token_type, mean from head_effect where quantity = 'cosine_distance';
select filling, layer, head, token_type, avg(cosine_distance) from sequence_head_effect group by all;
select layer, part, head, token_type, mean from contribution where quantity = 'share';
select layer, part, head, token_type, avg(share) from sequence_contribution group by all;
select layer, head, token_type, importance from gradient_importance;
select layer, head, token_type, avg(importance) from sequence_gradient_importance group by all;
select rule, layer, head, entropy from relevance_summary;
select rule, layer, head, avg(entropy) from sequence_relevance group by all;
select rule, curve, mean from perturbation where share is null;
select rule, curve, avg(area) from sequence_perturbation group by all;
select layer, worst_relative_error from completeness;
select layer, max(relative_error) from (select layer, relative_error from sequence_completeness union all select layer, relative_error from layer_completeness) group by all;
