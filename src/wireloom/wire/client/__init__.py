"""What the client sessions of all protocols share: connecting, reconnecting, and waiting."""
