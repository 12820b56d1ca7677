import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";

/** A balancer of TCP connections, as there is one in front of replicas: it passes over those that are down. */
export class Balancer {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #ports: readonly number[] = [];
  #next = 0;

  constructor() {
    this.#server = createServer((client) => {
      this.#keep(client);
      this.#pass(client, this.#ports.length);
    });
  }

  async listen(port: number): Promise<void> {
    this.#server.listen(port, "127.0.0.1");
    await once(this.#server, "listening");
  }

  /** Sends new connections there, and breaks those that there are. */
  use(...ports: readonly number[]): void {
    this.#ports = ports;
    for (const socket of this.#sockets) socket.destroy();
  }

  close(): void {
    this.use();
    this.#server.close();
  }

  #pass(client: Socket, attempts: number): void {
    const port = this.#ports[this.#next++ % Math.max(1, this.#ports.length)];
    if (attempts === 0 || port === undefined) return void client.destroy();
    const server = connect(port, "127.0.0.1");
    const isDown = () => this.#pass(client, attempts - 1);
    server.once("error", isDown);
    server.once("connect", () => {
      server.off("error", isDown);
      this.#keep(server);
      server.on("close", () => client.destroy());
      client.on("close", () => server.destroy());
      client.pipe(server).pipe(client);
    });
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on("error", () => socket.destroy());
    socket.on("close", () => this.#sockets.delete(socket));
  }
}
