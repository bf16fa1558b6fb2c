"""Page layout beyond the settings of the theme."""

STYLE = """<style>
[data-testid="stMainBlockContainer"] {padding: 1.1rem 2.5rem 4rem; position: relative}
[data-testid="stMainBlockContainer"] > [data-testid="stVerticalBlock"] {gap: .45rem}
[data-testid="stSidebar"] [data-testid="stVerticalBlock"] {gap: .3rem}
[data-testid="stSidebar"] [data-testid="stPageLink"] a {padding-block: .05rem; min-height: 0}
[data-testid="stSidebar"] [data-testid="stMarkdownContainer"] {margin-bottom: 0}
[data-testid="stSidebar"] h3 {padding: .5rem 0 .2rem}
[data-testid="stSidebar"] [data-testid="stCaptionContainer"] {padding: .35rem 0 0 .5rem}
[data-testid="stSidebar"] [data-testid="stSelectbox"] {padding-top: .5rem}
[data-testid="stHeader"] {background: none}
[data-testid="stHeader"], [data-testid="stHeader"] :not(button, button *) {pointer-events: none}
[data-testid="stHeader"] :is(button, button *) {pointer-events: auto}
.st-key-bar {padding-right: 9.2rem; gap: .35rem; min-height: 2.6rem}
:is(a, [data-testid="stElementToolbar"] button):focus-visible
 {outline: 2px solid #2b84c4 !important; outline-offset: 1px}
[data-testid="stMain"]:focus-visible {outline: 2px solid #2b84c4; outline-offset: -2px}
[data-testid="stStatusWidget"] {position: fixed; right: 1rem; bottom: 0.5rem}
.st-key-kept {display: none}
.st-key-presenting {position: absolute; top: 1.95rem; right: 3.5rem; width: auto; z-index: 2}
.st-key-bar h1 {padding: 0}
.st-key-sections [role="radiogroup"] {flex-wrap: nowrap; overflow-x: auto; scrollbar-width: none}
.st-key-sections button {padding: 0 .65rem; white-space: nowrap; flex-shrink: 0}
@media (max-width: 1500px) {
 .st-key-sections button {padding: 0 .45rem}
 .st-key-sections button p {font-size: .8rem}
}
[data-testid="stMain"] :is([data-testid="stVegaLiteChart"],
 div:has(> [data-testid="stVegaLiteChart"])) {min-width: 100%; max-width: 100%}
[data-testid="stMain"] [data-testid="stVegaLiteChart"] svg {max-width: 100%; height: auto}
@media (max-width: 1000px) {
 [data-testid="stMain"] [data-testid="stHorizontalBlock"]:has(> [data-testid="stColumn"])
  {flex-direction: column}
 [data-testid="stMain"] [data-testid="stColumn"] {width: 100%; flex: auto}
 [data-testid="stMain"] [data-testid="stVegaLiteChart"] {overflow: auto hidden}
 [data-testid="stSidebar"] {width: 14rem !important; min-width: 0 !important}
 [data-testid="stMainBlockContainer"] {padding-inline: 1.2rem}
}
[data-testid="stMain"] h3
 {padding: 0; font-family: inherit; font-size: .9rem; font-weight: 500; opacity: .85}
[data-testid="stMain"] :is([data-testid="stHeading"], [data-testid="stCaptionContainer"])
 > [data-testid="stMarkdownContainer"], [data-testid="stMain"] [data-testid="stCaptionContainer"]
 {margin-bottom: 0}
[data-testid="stMain"] [data-testid="stCaptionContainer"] p {margin: 0}
[data-testid="stMain"] .st-key-findings h3 {font-size: 1.45rem; font-weight: 600; opacity: 1}
[class*="st-key-foot_"] {flex-wrap: nowrap}
.st-key-findings [data-testid="stVerticalBlock"] {gap: .35rem}
.st-key-findings [data-testid="stColumn"] [data-testid="stLayoutWrapper"]
 > [data-testid="stVerticalBlock"] {padding-inline: .6rem}
.st-key-findings [data-testid="stPageLink"] p {white-space: normal}
.st-key-findings [data-testid="stMarkdownContainer"] p {font-size: .92rem; line-height: 1.45}
[data-testid="stCaptionContainer"][data-testid] {opacity: .8}
[data-testid="stMain"] [data-testid="stElementToolbar"] {top: 0}
:is([class*="st-key-toolbar"], [class*="st-key-corner"]) button[role="radio"] {min-height: 2.5rem}
:is([class*="st-key-toolbar"], [class*="st-key-corner"])
 > [data-testid="stElementContainer"]:has([data-testid="stSelectbox"]) {max-width: 22rem}
:is([class*="st-key-toolbar"], [class*="st-key-corner"])
 > [data-testid="stElementContainer"]:has([data-testid="stNumberInput"]) {max-width: 13rem}
[data-testid="stMain"] [data-testid].st-key-seq_layer
 {max-width: 6.5rem}
</style>"""
