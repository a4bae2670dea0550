// The Socket.IO server that we compare with: rooms, as its own guide has them.
const { Server } = require("socket.io");

const io = new Server(Number(process.argv[2]), { transports: ["websocket"] });

io.on("connection", (socket) => {
  socket.on("subscribe", (room, done) => {
    socket.join(room);
    done();
  });
  socket.on("publish", (message) => socket.to("bench").emit("message", message));
  socket.on("send", (message, done) => {
    socket.to("bench").emit("message", message);
    done("sent");
  });
});
