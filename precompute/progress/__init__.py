"""Progress of a run: one stream of events, and what reads it.

A new kind of event is a small dataclass in `events.py`; `account.py` adds events up, and the note
beside the output, the terminal's display and plain lines show that account and nothing else.
"""
