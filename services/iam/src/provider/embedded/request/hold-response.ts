import type { ServerResponse } from "node:http";

/** Waits until a response is sent, or its client has gone. */
export function hold(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    response.once("close", resolve);
    response.once("finish", resolve);
  });
}
