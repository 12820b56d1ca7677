import type { AddressInfo } from "node:net";
import { connect, createServer } from "node:net";

/** Connects to a port from another address of this machine, so that the peer differs. */
export interface LocalPeer {
  readonly port: number;
  close(): void;
}

/** Forwards connections to a port from an address such as 127.0.0.2. */
export async function forwardFrom(localAddress: string, port: number): Promise<LocalPeer> {
  const server = createServer((socket) => {
    const onward = connect({ port, host: "127.0.0.1", localAddress });
    socket.pipe(onward).pipe(socket);
    for (const end of [socket, onward]) {
      end.on("error", () => {
        socket.destroy();
        onward.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    close: () => void server.close(),
  };
}
