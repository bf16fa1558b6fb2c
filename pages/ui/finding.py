"""What a finding is: a sentence of the overview with its number and the place that shows more."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """A number under its label, the sentence that says what it means, the section that shows it."""

    label: str
    number: str
    sentence: str
    page: str
    view: str
