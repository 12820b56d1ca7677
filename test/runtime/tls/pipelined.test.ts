/** Requests over TLS that arrive while an earlier response of their connection is not read. */
import { connect } from "node:net";
import { Duplex } from "node:stream";
import { connect as connectTls } from "node:tls";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { rawMethod, start, statusOf, stopAll } from "../http/support.ts";
import {
  type Certificates,
  type Identity,
  makeCertificates,
  opensslIsAbsent,
} from "./support/certificates.ts";

/** More than the buffers of sockets. */
const LARGE = "x".repeat(32 * 1024 * 1024);

describe.skipIf(opensslIsAbsent())("a request in several TLS records", () => {
  let certificates: Certificates;
  let server: Identity;
  beforeAll(() => {
    certificates = makeCertificates();
    server = certificates.authority("ca").issue("server", { names: "DNS:localhost" });
  });
  afterAll(async () => {
    await stopAll();
    certificates?.remove();
  });

  test.each(["http/1.1", undefined])("is read completely, with ALPN %s", async (protocol) => {
    const bodies: string[] = [];
    const path = { path: "/raw", match: "exact", methods: ["*"], exposure: "PUBLIC" } as const;
    const raw = rawMethod(path, async (request) => {
      const body = Buffer.from(await request.body()).toString();
      bodies.push(body);
      return { status: 200, body: body === "" ? LARGE : `got ${body}` };
    });
    const tls = { certificate_file: server.certificateFile, key_file: server.keyFile };
    const { port, unrouted } = await start({ rawMethods: [raw], config: { tls } });
    const { secured, together } = await open(port, protocol);
    secured.write("GET /raw HTTP/1.1\r\nHost: x\r\n\r\n");
    await expect.poll(() => bodies, { message: "the server reads the first body" }).toEqual([""]);
    // The first response is not read, so it blocks.
    await together(
      "POST /raw HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n",
      ...["3\r\none\r\n", "4\r\n two\r\n", "0\r\n\r\n"],
      ...[
        "POST /raw HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 5\r\n\r\n",
        "three",
      ],
    );
    let text = "";
    for await (const chunk of secured.setEncoding("latin1")) text += chunk;
    const responses = text.split(/(?=HTTP\/1\.1 )/);
    expect(responses.map(statusOf)).toEqual([200, 200, 200]);
    expect(responses.slice(1).map((one) => one.split("\r\n\r\n")[1])).toEqual([
      "got one two",
      "got three",
    ]);
    expect(unrouted).toEqual([]);
  });
});

/** A connection whose TLS records can be sent in one piece. */
async function open(port: number, protocol: string | undefined) {
  const socket = connect(port, "127.0.0.1");
  let held: Buffer[] | undefined;
  const transport = new Duplex({
    read: () => socket.resume(),
    write(chunk: Buffer, _encoding, done) {
      if (held === undefined) socket.write(chunk);
      else held.push(chunk);
      done();
    },
    final: (done) => void socket.end(done),
  });
  socket.on("data", (chunk) => transport.push(chunk) || socket.pause());
  socket.on("end", () => transport.push(null));
  const secured = connectTls({
    socket: transport,
    rejectUnauthorized: false,
    ...(protocol === undefined ? {} : { ALPNProtocols: [protocol] }),
  });
  await new Promise((resolve) => secured.once("secureConnect", resolve));
  const together = async (...records: string[]) => {
    held = [];
    for (const record of records) {
      await new Promise((resolve) => secured.write(record, resolve));
    }
    const all = Buffer.concat(held);
    held = undefined;
    socket.write(all);
  };
  return { secured, together };
}
