"""How a page is laid out where the theme has no setting for it."""

STYLE = """<style>
[data-testid="stMainBlockContainer"] {padding: 1.1rem 2.5rem 4rem}
[data-testid="stMainBlockContainer"] > [data-testid="stVerticalBlock"] {gap: .55rem}
[data-testid="stHeader"] {background: none; pointer-events: none}
[data-testid="stHeader"] * {pointer-events: auto}
.st-key-bar {padding-right: 2.5rem}
.st-key-bar h1 {padding: 0}
.st-key-sections [role="radiogroup"] {flex-wrap: nowrap; overflow-x: auto; scrollbar-width: none}
.st-key-sections button {padding: 0 .65rem; white-space: nowrap; flex-shrink: 0}
[data-testid="stMain"] h3 {padding: 0; font: 500 .9rem/1.4 inherit; opacity: .8}
[data-testid="stMain"] :is([data-testid="stHeading"], [data-testid="stCaptionContainer"])
 > [data-testid="stMarkdownContainer"], [data-testid="stMain"] [data-testid="stCaptionContainer"]
 {margin-bottom: 0}
[data-testid="stMain"] [data-testid="stCaptionContainer"] p {margin: 0}
[data-testid="stCaptionContainer"][data-testid] {opacity: .8}
[data-testid="stMain"] [data-testid="stElementToolbar"] {top: 0}
</style>"""
