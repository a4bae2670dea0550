"""What the tables say, for people: the books, the times, the reasons, one message's life."""
