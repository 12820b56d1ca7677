import { connect } from "node:net";
import { AS } from "./caller.ts";

/** Records the login `slow` by a request whose body is sent in two parts. */
export function slowRequest(origin: string) {
  const { hostname, port } = new URL(origin);
  const login = { userId: "alice", userAgent: "slow", loginTime: "2026-01-01T00:00:00Z" };
  const body = JSON.stringify(login);
  const socket = connect(Number(port), hostname);
  let received = "";
  let begin: () => void;
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  socket.on("data", (chunk) => {
    received += chunk;
    // The server has accepted the call and asks for the body.
    if (received.includes("100 Continue")) begin();
  });
  const response = new Promise<string>((resolve) => {
    for (const event of ["close", "error"]) {
      socket.on(event, () => resolve(received.replace(/^HTTP\/1\.1 100 Continue\r\n\r\n/, "")));
    }
  });
  const head = [
    "POST /v1/authn/logins HTTP/1.1",
    `host: ${hostname}:${port}`,
    "content-type: application/json",
    `content-length: ${body.length}`,
    "expect: 100-continue",
    `x-svc-internal-token: ${AS.git["x-svc-internal-token"]}`,
  ];
  socket.write(`${head.join("\r\n")}\r\n\r\n`);
  socket.write(body.slice(0, 10));
  return { begun, response, finish: () => void socket.write(body.slice(10)) };
}
