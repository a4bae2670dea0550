"""Sessions on real sockets: links, the driver, the store, and the servers made of them."""
