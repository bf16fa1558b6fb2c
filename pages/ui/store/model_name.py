"""What the model of a file is called wherever a page names it."""

from pages.ui.store.open_file import Store
from pages.ui.words.say import say


def model_name(store: Store) -> str:
    """The model's name; of one that was never trained, with its seed."""
    seed = store.random_weights
    return store.model if seed is None else say("model.untrained", model=store.model, seed=seed)
