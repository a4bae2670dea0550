"""The world without sockets: sessions on a virtual clock, for tests and simulations.

It performs commands by the same rules as a server (`performing`). Nothing in it takes real time
or happens by chance: the same calls always lead to the same course of events.
"""
