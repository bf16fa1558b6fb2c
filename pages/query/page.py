"""Page for SQL queries on the open file."""

from pages.kit.recorded_page import Page
from pages.query.ask import ask_in_sql

PAGE = Page("query", "qu", (ask_in_sql,))

if __name__ == "__main__":
    PAGE.show()
