"""The five protocols, all of one shape and strangers to each other."""
