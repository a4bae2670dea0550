"""Links carry frames: WebSocket, TCP and UDP in one shape."""
