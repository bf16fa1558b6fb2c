"""Relations of two tokens, asked one question after the other."""


def relation(query: int, key: int, ids: list[int], words: list[int], segments: list[int]) -> str:
    if words[query] < 0 or words[key] < 0:
        return "special"
    if ids[query] == ids[key]:
        return "same_word"
    if words[query] == words[key]:
        return "word_pieces"
    if abs(query - key) == 1:
        return "adjacent"
    return "same_segment" if segments[query] == segments[key] else "other_segment"
