import type { ClientHttp2Session, ClientHttp2Stream } from "node:http2";
import { laxSession } from "../hostile/support/lax-session.ts";
import { overSession, type WireResponse } from "../support/wire/send-request.ts";
import { HttpConnection } from "./http-connection.ts";
import { callersOf, type Field, seenOverHttp2 } from "./oracle.ts";
import type { Random } from "./random.ts";
import { type RpcInput, rpcInput } from "./rpc-inputs.ts";
import { problemOfAnswer } from "./rpc-oracle.ts";
import type { Lane } from "./run.ts";
import type { Pending, Subject } from "./subject.ts";

/** The number of bytes after which reading a stream stops. */
const MAX_ANSWER = 128 * 1024;

/** Sends calls over one connection, as long as the server keeps it. */
interface Sender {
  send(input: RpcInput): Promise<WireResponse | undefined>;
  close(): void;
}

/** A lane of Connect and gRPC-Web, over one version of HTTP. */
export function rpcLane(
  subject: Subject,
  random: Random,
  from: "trusted" | "stranger",
  version: "1.1" | "2",
  statuses: Map<string, number>,
): Lane {
  const port = subject.world.port("http", from);
  const sender = version === "1.1" ? overHttp1(port) : overHttp2(port);
  return {
    async next() {
      const input = rpcInput(random, subject.credentials);
      const { request } = input;
      const { fields } = request;
      const carried = { mode: subject.mode, isTrusted: from === "trusted", fields };
      const readings = version === "1.1" ? [carried] : seenOverHttp2(carried);
      const body = request.body.subarray(0, 99).toString("hex");
      const shown = JSON.stringify({ from, version, ...request, body });
      const pending: Pending = {
        callers: readings.flatMap((one) => callersOf(one, subject.credentials)),
        isLoose: false,
        text: shown,
        seen: undefined,
      };
      subject.register(input.requestId, pending);
      const response = await sender.send(input);
      if (response === undefined || response.body.length > MAX_ANSWER) return;
      const { status, headers } = response;
      const type = headers.find(([name]) => name === "content-type")?.[1] ?? "";
      const key = `${status} ${type}`;
      statuses.set(key, (statuses.get(key) ?? 0) + 1);
      const problem = problemOfAnswer(response, input, pending);
      if (problem !== undefined) {
        const answer = `${status} ${JSON.stringify(headers)} ${response.body.toString("latin1", 0, 999)}`;
        subject.violations.push(`${problem}: ${answer} for ${shown}`);
      }
    },
    close: () => sender.close(),
  };
}

function overHttp1(port: number): Sender {
  const connection = new HttpConnection(port);
  return {
    async send({ request: { method, path, fields, body } }) {
      const all: Field[] = [["host", "vault"], ...fields];
      if (method !== "GET") all.push(["content-length", String(body.length)]);
      const lines = all.map(([name, value]) => `${name}: ${value}`);
      const head = [`${method} ${path} HTTP/1.1`, ...lines, "", ""].join("\r\n");
      const text = head + (method === "GET" ? "" : body.toString("latin1"));
      const responses = await connection.exchange(text, [method === "HEAD"], false);
      const response = responses.find(({ status }) => status >= 200);
      return response && { ...response, body: response.bytes };
    },
    close: () => connection.close(),
  };
}

function overHttp2(port: number): Sender {
  let session: ClientHttp2Session | undefined;
  return {
    async send({ request, isTakenBack }) {
      if (session === undefined || session.destroyed || session.closed) session = laxSession(port);
      const watch = (stream: ClientHttp2Stream): void => {
        let size = 0;
        stream.on("data", (piece: Buffer) => {
          size += piece.length;
          if (size > MAX_ANSWER) stream.close(8);
        });
        if (isTakenBack) stream.close(8);
      };
      try {
        const response = await overSession(session, request, watch);
        return isTakenBack ? undefined : response;
      } catch {
        // The client itself refuses to send it.
        return undefined;
      }
    },
    close: () => session?.destroy(),
  };
}
