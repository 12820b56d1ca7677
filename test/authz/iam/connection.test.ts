/** How the engine reaches a whole svc-iam: TLS, tokens, and what it says when it is refused. */
import { copyFileSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { startIam } from "../../../services/iam/test/support/iam-service.ts";
import {
  type IamWithServices,
  openIamEngine,
  type ServiceName,
  startWithServices,
  tokenOf,
} from "../../../services/iam/test/support/permissions.ts";
import {
  type Authority,
  type Certificates,
  makeCertificates,
  opensslIsAbsent,
} from "../../runtime/tls/support/certificates.ts";

const MODEL = new URL("../../../model/iam.zed", import.meta.url).pathname;
const CHECK = {
  resource: { type: "project", id: "p" },
  permission: "read",
  subject: { type: "user", id: "alice" },
};

let folder: string;
let it: IamWithServices;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "svc-access-iam-engine-"));
  it = await startWithServices();
});
afterAll(async () => {
  await it?.stop();
  rmSync(folder, { recursive: true });
});

async function engineOf(options: Partial<Parameters<typeof openIamEngine>[0]>) {
  const target = it.iam.grpcTarget;
  const engine = await openIamEngine({ target, model: MODEL, folder, ...options });
  onTestFinished(() => engine.close());
  return engine;
}

describe("a service that IAM refuses is UNAVAILABLE, and never allowed [ENG-8]", () => {
  test("a wrong token", async () => {
    const engine = await engineOf({ token: "a-token-that-nobody-gave" });
    const refusal =
      /^IAM at [\d.:]+ does not accept the internal token of this service: security\.authz\.iam\.token here must be one of/;
    await expect(engine.check(CHECK)).rejects.toMatchObject({
      code: "UNAVAILABLE",
      message: expect.stringMatching(refusal),
    });
    expect(await engine.ready()).toMatchObject({
      ready: false,
      reason: expect.stringMatching(refusal),
    });
  });

  // The message is shown to anybody by /readyz; what IAM says is in the cause, for the log.
  test.each<[ServiceName, RegExp]>([
    ["stranger", /iam\.services\.stranger is missing/],
    ["writer", /iam\.services\.writer\.read_types does not have project/],
  ])("the %s", async (service, said) => {
    const engine = await engineOf({ token: tokenOf(service) });
    for (const call of [engine.check(CHECK), engine.checkBulk([CHECK]), engine.explain(CHECK)]) {
      await expect(call).rejects.toMatchObject({
        code: "UNAVAILABLE",
        message: expect.stringMatching(/^IAM at [\d.:]+ refuses this service: check its entry in/),
        cause: { message: expect.stringMatching(said) },
      });
    }
  });
});

test("the token of a file is followed", async () => {
  const file = join(folder, "token");
  writeFileSync(file, tokenOf("stranger"));
  const more = { token_file: file, insecure: true };
  const engine = await engineOf({ more });
  await expect(engine.check(CHECK)).rejects.toMatchObject({ code: "UNAVAILABLE" });
  writeFileSync(`${file}.new`, tokenOf("hub"));
  renameSync(`${file}.new`, file);
  const allowed = () =>
    engine.check(CHECK).then(
      ({ allowed }) => allowed,
      () => undefined,
    );
  await expect
    .poll(allowed, { message: "the engine uses the new token of the file", interval: 200 })
    .toBe(false);
});

describe.skipIf(opensslIsAbsent())("over TLS", () => {
  let certificates: Certificates;
  let ca: Authority;
  let secured: IamWithServices["iam"];
  let target: string;
  beforeAll(async () => {
    certificates = makeCertificates();
    ca = certificates.authority("ca");
    const server = ca.issue("iam", { names: "DNS:localhost" });
    const services = { hub: { read_types: ["*"] } };
    secured = await startIam({
      authn: {
        internal_call: { enabled: true, token: [{ service: "hub", token: tokenOf("hub") }] },
      },
      iam: { services },
      server: {
        grpc: {
          address: "127.0.0.1:0",
          tls: {
            certificate_file: server.certificateFile,
            key_file: server.keyFile,
            client_ca_file: ca.certificateFile,
          },
        },
      },
    });
    target = secured.grpcTarget.replace("127.0.0.1", "localhost");
  });
  afterAll(async () => {
    await secured?.stop();
    certificates.remove();
  });
  const token = tokenOf("hub");

  test("with the CA of IAM and a certificate of its own it is served", async () => {
    const own = ca.issue("hub", { commonName: "hub", usage: "clientAuth" });
    const more = {
      ca_file: ca.certificateFile,
      certificate_file: own.certificateFile,
      key_file: own.keyFile,
    };
    const engine = await engineOf({ target, token, more });
    expect(await engine.ready()).toEqual({ ready: true });
    expect((await engine.check(CHECK)).allowed).toBe(false);
  });

  test("certificates that are renewed in their files are used", async () => {
    const former = certificates.authority("former").issue("hub", { usage: "clientAuth" });
    const next = ca.issue("next", { commonName: "hub", usage: "clientAuth" });
    const [certificate, key] = [join(folder, "own.crt"), join(folder, "own.key")];
    const install = (from: string, to: string) => {
      copyFileSync(from, `${to}.new`);
      renameSync(`${to}.new`, to);
    };
    install(former.certificateFile, certificate);
    install(former.keyFile, key);
    const more = {
      ca_file: ca.certificateFile,
      certificate_file: certificate,
      key_file: key,
    };
    const engine = await engineOf({ target, token, more });
    await expect(engine.check(CHECK)).rejects.toMatchObject({ code: "UNAVAILABLE" });
    // For a moment, the key is that of another certificate.
    install(next.keyFile, key);
    install(next.certificateFile, certificate);
    const allowed = () =>
      engine.check(CHECK).then(
        ({ allowed }) => allowed,
        () => undefined,
      );
    await expect
      .poll(allowed, { message: "the engine uses the renewed certificates", interval: 200 })
      .toBe(false);
  });

  test.each<[string, () => Record<string, unknown>, RegExp]>([
    [
      "without a certificate",
      () => ({ ca_file: ca.certificateFile }),
      // Where IAM ends the connection first, nothing says why.
      /^IAM at localhost:\d+ (requires a client certificate: .* security\.authz\.iam\.certificate_file$|cannot be reached|closes each connection)/,
    ],
    [
      "with another CA",
      () => ({ ca_file: certificates.authority("other").certificateFile }),
      /^the certificate of IAM at localhost:\d+ is not signed by a trusted CA: .* security\.authz\.iam\.ca_file$/,
    ],
    [
      "without TLS",
      () => ({ insecure: true }),
      /^IAM at localhost:\d+ (closes each connection: .* security\.authz\.iam\.insecure, |cannot be reached)/,
    ],
  ])("%s it is not, and says so", async (_, more, message) => {
    const engine = await engineOf({ target, token, more: more() });
    await expect(engine.check(CHECK)).rejects.toMatchObject({
      code: "UNAVAILABLE",
      message: expect.stringMatching(message),
    });
  });
});
