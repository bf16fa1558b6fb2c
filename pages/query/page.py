"""Page for SQL queries on the open file."""

from pages.query.ask import ask_in_sql
from pages.ui.page import Page

PAGE = Page("query", "qu", (ask_in_sql,))

if __name__ == "__main__":
    PAGE.show()
