"""The client's end of the Signal Hub protocol."""
