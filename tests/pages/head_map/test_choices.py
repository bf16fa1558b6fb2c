"""Links restore every choice; clicks choose a head; what is not there shows the default."""


def test_the_head_that_is_farthest_from_all_others_comes_first(section, answers):
    session = section("map")
    ((layer, head),) = answers(
        "select layer_a, head_a from head_distance_mean group by all "
        "order by avg(mean_divergence) desc limit 1"
    )
    assert session.session_state["head"] == f"{layer}-{head}"
