// The Socket.IO server that we compare with: rooms, as its own guide has them, and messages with
// an id and an address for each recipient, as our hub has them.
const { Server } = require("socket.io");

const io = new Server(Number(process.argv[2]), { transports: ["websocket"] });
const { adapter, sockets } = io.of("/");
let count = 0;

io.on("connection", (socket) => {
  socket.on("subscribe", (room, done) => {
    socket.join(room);
    done();
  });
  socket.on("publish", (message) => socket.to("bench").emit("message", message));
  socket.on("publish_each", (message) => {
    for (const to of adapter.rooms.get("bench")) {
      sockets.get(to).emit("message", { id: ++count, to, message });
    }
  });
  socket.on("send", (message, done) => {
    socket.to("bench").emit("message", message);
    done("sent");
  });
});
