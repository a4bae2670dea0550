"""`wireloom-hub.js`: the hub's client for web pages, one module without a build step."""
