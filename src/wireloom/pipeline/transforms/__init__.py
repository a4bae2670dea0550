"""Tables from tables: each module is named after what it returns."""
