"""MyriadMesh: signed frames that hop between radios, wires and tunnels to a node's id."""
