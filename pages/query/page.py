"""Page for SQL queries on the open file."""

from pages.kit.kinds import Drawn
from pages.kit.page import Page
from pages.kit.section import Figure, Section, one_row
from pages.query.ask import ask_in_sql

ASK = Section("ask", (), (Figure("ask", one_row, Drawn(record=ask_in_sql)),))
PAGE = Page("query", "qu", (ASK,))

if __name__ == "__main__":
    PAGE.show()
