"""The python-socketio server that we compare with: the same rooms, on uvicorn.

usage: python socketio_app.py PORT
"""

import sys
from typing import Any

import socketio
import uvicorn

server = socketio.AsyncServer(async_mode="asgi", transports=["websocket"])


@server.event
async def subscribe(sid: str, room: str) -> None:
    """Puts the client into a room."""
    await server.enter_room(sid, room)


@server.event
async def publish(sid: str, message: Any) -> None:
    """Passes a message to all in the room."""
    await server.emit("message", message, room="bench", skip_sid=sid)


uvicorn.run(socketio.ASGIApp(server), port=int(sys.argv[1]), log_level="error", ws="websockets")
