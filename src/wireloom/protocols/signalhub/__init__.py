"""Signal Hub: actors that find and message each other through one hub, in JSON or MessagePack."""
