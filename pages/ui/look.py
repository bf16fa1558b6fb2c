"""How a page is laid out where the theme has no setting for it."""

STYLE = """<style>
.st-key-bar h1 {padding: 0}
[data-testid="stMainBlockContainer"] > [data-testid="stVerticalBlock"] {gap: .6rem}
[data-testid="stMainBlockContainer"] h3 {padding: .2rem 0 0; font-weight: 500; opacity: .85}
[data-testid="stMain"] [data-testid="stCaptionContainer"] p {margin: 0}
</style>"""
