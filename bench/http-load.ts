import { connect } from "node:net";

/** How many connections a load has. */
export const CONNECTIONS = 32;
const CLOSING_BRACE = 125;

/** A request of HTTP/1.1 as it goes over the wire. */
export function wireRequest(
  line: string,
  headers: Readonly<Record<string, string>>,
  body = "",
): string {
  const all = body === "" ? headers : { ...headers, "Content-Length": String(body.length) };
  const fields = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${line} HTTP/1.1\r\n${fields.join("")}\r\n${body}`;
}

/**
 * Sends a request one after the other on each of some connections; the answer is a JSON object.
 *
 * @param request the same one on all connections, or one for each
 * @returns how many were answered
 */
export async function loadHttp(
  port: number,
  request: string | readonly string[],
  milliseconds: number,
): Promise<number> {
  let responses = 0;
  let isOver = false;
  const connections = Array.from({ length: CONNECTIONS }, (_, index) => {
    const text = typeof request === "string" ? request : (request[index % request.length] ?? "");
    return new Promise<void>((resolve, reject) => {
      const socket = connect(port, "127.0.0.1", () => socket.write(text));
      socket.setNoDelay(true);
      socket.on("data", (chunk) => {
        if (chunk[chunk.length - 1] !== CLOSING_BRACE) return;
        if (responses++ === 0 && !chunk.includes(" 200 OK")) reject(new Error(String(chunk)));
        if (isOver) socket.end();
        else socket.write(text);
      });
      socket.on("error", reject);
      socket.on("close", () => resolve());
    });
  });
  await new Promise((resolve) => setTimeout(resolve, milliseconds));
  isOver = true;
  await Promise.all(connections);
  return responses;
}
