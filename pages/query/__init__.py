"""Page for SQL queries on the open file; `pages.services.sql_reader` answers them in a process of
its own, which can reach nothing but the file."""
