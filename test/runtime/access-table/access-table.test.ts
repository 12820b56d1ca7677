/** Every exposure over every protocol, in every authentication mode, with every kind of credential. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { AUTHN_MODES } from "../../../src/api/authn-mode.ts";
import { createSpicedbEngine } from "../../../src/authz/spicedb/index.ts";
import { parseModel } from "../../../src/model/index.ts";
import { columnsOf } from "../../support/effort.ts";
import { ROOT } from "../../support/workspace.ts";
import { forwardFrom, type LocalPeer } from "../support/local-peer.ts";
import {
  AUDIENCE,
  expiredClaims,
  startTokenIssuer,
  type TokenIssuer,
} from "../support/token-issuer.ts";
import {
  FIXTURE,
  INTERNAL_TOKEN,
  type RunningVault,
  SYSTEM_TOKEN,
  shareDocument,
  startVault,
} from "../support/vault-server.ts";
import { PROTOCOL_NAMES, PROTOCOLS, type Wire } from "../support/wire/protocols.ts";
import { callGrpc, callWire, type Headers, targetOf } from "./call.ts";
import {
  CREDENTIALS,
  type Credential,
  type CredentialName,
  expectedCell,
  isStream,
  RPCS,
} from "./expected.ts";
import { accessTableDocument } from "./print-table.ts";

/** The address of trusted callers; the others call from 127.0.0.1. */
const TRUSTED = "127.0.0.2";
const ENGINE_DOWN = "AUTHORIZED, engine down";
let issuer: TokenIssuer;

beforeAll(async () => {
  issuer = await startTokenIssuer();
});

afterAll(() => issuer.stop());

describe.each(AUTHN_MODES)("in mode %s [EXP-1, EXP-2, EXP-3, EXP-4, EXP-5, AUTHZ-2]", (mode) => {
  let vault: RunningVault;
  let withoutEngine: RunningVault;
  const peers: LocalPeer[] = [];
  const ports = new Map<RunningVault, { http: LocalPeer; grpc: LocalPeer }>();

  beforeAll(async () => {
    const security = {
      authn: {
        mode,
        gateway: { trusted_peers: [`${TRUSTED}/32`] },
        ...(mode === "idp_jwt" || mode === "hybrid"
          ? { oidc: { issuer: issuer.url, audience: [AUDIENCE] } }
          : {}),
        internal_call: {
          enabled: true,
          token: [{ service: "hub", token: INTERNAL_TOKEN }],
          system_token: SYSTEM_TOKEN,
        },
      },
    };
    vault = await startVault({ security });
    await shareDocument(vault.engine);
    // No SpiceDB runs there.
    const { model } = parseModel(readFileSync(join(FIXTURE, "model.zed"), "utf8"), "model.zed");
    const engine = await createSpicedbEngine({
      endpoint: "127.0.0.1:1",
      token: "nobody",
      insecure: true,
      model,
    });
    withoutEngine = await startVault({ security, engine });
    for (const one of [vault, withoutEngine]) {
      const http = await forwardFrom(TRUSTED, one.http);
      const grpc = await forwardFrom(TRUSTED, one.grpc);
      peers.push(http, grpc);
      ports.set(one, { http, grpc });
    }
  });

  afterAll(async () => {
    await Promise.all([vault.stop(), withoutEngine.stop()]);
    for (const peer of peers) peer.close();
  });

  const names = Object.keys(CREDENTIALS) as CredentialName[];
  test.each(names.map((name, turn) => ({ name, turn })))("$name", async ({ name, turn }) => {
    const credential: Credential = CREDENTIALS[name];
    const headers = await headersOf(credential);
    const portOf = (one: RunningVault, transport: "http" | "grpc") =>
      credential.peer === "trusted" ? (ports.get(one)?.[transport].port ?? 0) : one[transport];
    const callBy = (wire: Wire, rpc: (typeof RPCS)[number]): Promise<string> => {
      const port = portOf(rpc === ENGINE_DOWN ? withoutEngine : vault, wire.port);
      const target = targetOf(rpc, wire.form);
      if (wire.form === "grpc" && !isStream(rpc)) return callGrpc(port, target, headers);
      return callWire(port, wire, target, headers);
    };
    const protocols = columnsOf(PROTOCOL_NAMES, turn + AUTHN_MODES.indexOf(mode), 8);
    const rows = protocols.map(async (protocol) => {
      const expected = RPCS.map((rpc) => expectedCell(mode, name, rpc, protocol));
      for (const wire of PROTOCOLS[protocol]) {
        const got = await Promise.all(RPCS.map((rpc) => callBy(wire, rpc)));
        const { version } = wire;
        expect({ protocol, version, ...row(got) }).toEqual({ protocol, version, ...row(expected) });
      }
    });
    await Promise.all(rows);
  });
});

test("docs/access-table.md has the tested results", () => {
  const file = join(ROOT, "docs/access-table.md");
  const text = accessTableDocument();
  if (process.env["UPDATE_GOLDENS"] === "1") writeFileSync(file, text);
  expect(readFileSync(file, "utf8")).toBe(text);
});

function row(cells: readonly string[]): Record<string, string | undefined> {
  return Object.fromEntries(RPCS.map((rpc, index) => [rpc, cells[index]]));
}

async function headersOf(credential: Credential): Promise<Headers> {
  const { headers, claimHeaders, type, duplicate, jwt, token } = credential;
  const all: [string, string][] = [];
  if (headers !== undefined) {
    all.push(["x-svc-auth-verified", "true"], ["x-svc-user-id", headers]);
  }
  if (duplicate !== undefined) all.push(["x-svc-user-id", duplicate]);
  if (claimHeaders !== undefined) all.push(["x-svc-external-sub", claimHeaders]);
  if (type !== undefined) all.push(["x-svc-subject-type", type]);
  if (jwt !== undefined) {
    const text =
      jwt === "forged"
        ? await issuer.forged()
        : await issuer.token(jwt === "expired" ? expiredClaims() : {});
    all.push(["authorization", `Bearer ${text}`]);
  }
  if (token !== undefined) {
    const values = {
      internal: INTERNAL_TOKEN,
      system: SYSTEM_TOKEN,
      wrong: "wrong-internal-token",
    };
    all.push(["x-svc-internal-token", values[token]]);
  }
  return all;
}
