"""The world without sockets: sessions on a virtual clock, for tests and simulations."""
