"""Page for SQL queries on the open file."""

from pages.kit.kinds import Drawn
from pages.kit.page import Page
from pages.kit.section import Figure, Section
from pages.query.ask import ask_in_sql

ASK = Section("ask", (), (Figure("ask", "select 1 as row", Drawn(record=ask_in_sql)),))
PAGE = Page("query", "qu", (ASK,))

if __name__ == "__main__":
    PAGE.show()
