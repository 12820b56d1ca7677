import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  createSpicedbEngine,
  type SpicedbEngine,
  type SpicedbEngineOptions,
} from "../../../../src/authz/spicedb/index.ts";
import { type SpicedbServer, spicedbIsAbsent, startSpicedb } from "../../../support/spicedb.ts";
import { modelOf, request, SCHEMA, updates } from "../fixture.ts";

const NOT_TRUSTED =
  /^the certificate of SpiceDB at localhost:\d+ is not signed by a trusted CA: name that CA in ca$/;
const asked = request("document:d#view@user:alice");

describe.skipIf(spicedbIsAbsent())("over TLS", () => {
  let folder: string;
  let server: SpicedbServer;
  const engines: SpicedbEngine[] = [];

  /** A certificate that is its own CA. */
  const certify = (name: string) => {
    const [certificate, key] = [join(folder, `${name}.pem`), join(folder, `${name}.key`)];
    const subject = ["-subj", `/CN=${name}`, "-addext", "subjectAltName=DNS:localhost"];
    const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"];
    execFileSync(
      "openssl",
      [
        "req",
        "-x509",
        "-nodes",
        "-days",
        "2",
        ...curve,
        ...subject,
        "-keyout",
        key,
        "-out",
        certificate,
      ],
      { stdio: "ignore" },
    );
    return { certificate, key };
  };
  const connect = async (options: Partial<SpicedbEngineOptions>) => {
    const { token } = server;
    const endpoint = server.endpoint.replace("127.0.0.1", "localhost");
    const model = modelOf(SCHEMA);
    const engine = await createSpicedbEngine({
      endpoint,
      token,
      model,
      deadlineMs: 3000,
      ...options,
    });
    engines.push(engine);
    return engine;
  };

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "svc-access-tls-"));
    server = await startSpicedb({ tls: certify("spicedb") });
  });
  afterAll(async () => {
    for (const engine of engines) await engine.close();
    await server?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  test.each(["text", "bytes"])("with its CA, given as %s", async (given) => {
    const bytes = readFileSync(join(folder, "spicedb.pem"));
    const engine = await connect({ ca: given === "text" ? bytes.toString() : bytes });
    await engine.writeSchema(SCHEMA);
    expect(await engine.ready()).toEqual({ ready: true });
    const { revision } = await engine.check(asked);
    const write = updates("TOUCH", `document:d#viewer@user:${given}`);
    await engine.writeRelationships({ updates: write });
    for await (const { updates } of engine.watch(revision)) {
      expect(updates).toEqual(write);
      break;
    }
  });

  test.each([
    ["another CA", () => ({ ca: readFileSync(certify("another").certificate) }), NOT_TRUSTED],
    ["the CAs of the system", () => ({}), NOT_TRUSTED],
    ["no TLS", () => ({ insecure: true }), /^SpiceDB at localhost:\d+ c/],
  ])("with %s nothing is decided, and ready() says why", async (_, options, reason) => {
    const engine = await connect(options());
    await expect(engine.check(asked)).rejects.toMatchObject({ code: "UNAVAILABLE" });
    expect(await engine.ready()).toEqual({
      ready: false,
      reason: expect.stringMatching(reason),
    });
  });
});
