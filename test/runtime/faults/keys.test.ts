/** The key-set endpoint is stopped, silent, or returns an invalid key set: 503 without keys, never 401. */
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from "jose";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { IS_THOROUGH } from "../../support/effort.ts";
import { type RunningVault, shareDocument, startVault } from "../support/vault-server.ts";
import { grpcCaller, httpCaller, type Kind, requestOf } from "./support/calls.ts";
import { FAULTS, type Fault, FaultyKeyServer } from "./support/faulty-key-server.ts";
import { Load } from "./support/load.ts";
import { until } from "./support/until.ts";

const AUDIENCE = "vault-client";
const SECOND = 1_000_000_000;
const FLOOD = 100;
/** Without keys, tokens cannot be verified. */
const NOT_NOW = [503];

let known: Awaited<ReturnType<typeof generateKeyPair>>;
let keys: readonly object[];

beforeAll(async () => {
  known = await generateKeyPair("ES256", { extractable: true });
  const jwk = await exportJWK(known.publicKey);
  keys = [{ ...jwk, kid: "one", alg: "ES256", use: "sig" }];
});

describe.concurrent.each(FAULTS)("the key set is %s", (fault) => {
  const open: (RunningVault | FaultyKeyServer)[] = [];
  afterAll(() => Promise.all(open.map((one) => one.stop())));

  const serverAndVault = async (mode: "idp_jwt" | "hybrid", first: Fault | undefined) => {
    const server = await new FaultyKeyServer(keys).start();
    server.fault = first;
    const oidc = { issuer: server.url, audience: [AUDIENCE] };
    const vault = await startVault({
      security: {
        authn: { mode, oidc: { ...oidc, jwks_cache_ttl_ns: 600 * SECOND } },
      },
    });
    open.push(server, vault);
    await shareDocument(vault.engine);
    return { server, vault };
  };

  /** In CI each fault has all tests, otherwise every other one. */
  const testIn = (turn: number) =>
    test.runIf(IS_THOROUGH || (FAULTS.indexOf(fault) + turn) % 2 === 0);

  testIn(0)(
    "with cached keys valid tokens are accepted, and a flood of unknown ones causes one request",
    async () => {
      const { server, vault } = await serverAndVault("idp_jwt", undefined);
      const token = await tokenOf(server.url);
      const load = loadOf(vault, token);
      await load.phase("healthy", 3);
      server.fault = fault;
      const asked = server.asked;
      await load.phase("faulty", 5);
      const flood = Array.from({ length: FLOOD }, async (_, number) => {
        const stranger = await tokenOf(server.url, `unknown-${number}`);
        return statusOf(vault, "profile", { authorization: `Bearer ${stranger}` });
      });
      const fresh = await tokenOf(server.url, "one", { jti: "another" });
      expect(await statusOf(vault, "allowed", { authorization: `Bearer ${fresh}` })).toEqual([
        200, 200,
      ]);
      // The current keys are unknown, so an unknown key cannot be refused.
      for (const statuses of await Promise.all(flood)) {
        for (const status of statuses) expect(NOT_NOW).toContain(status);
      }
      // Discovery and the key set, once each.
      expect(server.asked - asked).toBeLessThanOrEqual(2);
      server.fault = undefined;
      await load.phase("fixed", 3);
      await load.stop();
      for (const phase of ["healthy", "faulty", "fixed"]) load.expectPhase(phase);
      load.expectNoWrongAnswer([]);
    },
  );

  testIn(1)(
    "without keys calls with tokens get 503, other calls are served, and it recovers by itself",
    async () => {
      const { server, vault } = await serverAndVault("idp_jwt", fault);
      const token = await tokenOf(server.url);
      const load = loadOf(vault, token);
      const forged = { authorization: `Bearer ${token.slice(0, -8)}AAAAAAAA` };
      await load.phase("faulty", 3);
      for (const status of await statusOf(vault, "profile", forged)) {
        expect(NOT_NOW).toContain(status);
      }
      server.fault = undefined;
      await until("the keys are read", async () => {
        const statuses = await statusOf(vault, "allowed", { authorization: `Bearer ${token}` });
        return statuses.every((status) => status === 200);
      });
      await load.phase("fixed", 3);
      await load.stop();
      load.expectPhase("faulty", {
        denied: NOT_NOW,
        write: NOT_NOW,
      });
      load.expectPhase("fixed");
      load.expectNoWrongAnswer(NOT_NOW);
      expect(await statusOf(vault, "profile", forged)).toEqual([401, 401]);
    },
  );

  testIn(0)(
    "in hybrid mode the gateway's headers are used if a token cannot be verified",
    async () => {
      const { server, vault } = await serverAndVault("hybrid", fault);
      const authorization = `Bearer ${await tokenOf(server.url)}`;
      const headers = { authorization, "x-svc-external-sub": "alice" };
      for (const status of await statusOf(vault, "profile", { authorization })) {
        expect(NOT_NOW).toContain(status);
      }
      expect(await statusOf(vault, "allowed", headers)).toEqual([200, 200]);
      server.fault = undefined;
      await until("the keys are read", async () => {
        return (await statusOf(vault, "allowed", { authorization }))[0] === 200;
      });
    },
  );
});

function loadOf(vault: RunningVault, token: string): Load {
  const kinds = ["public", "denied", "write"] as const;
  return new Load(vault, { kinds, credentials: { authorization: `Bearer ${token}` } });
}

function tokenOf(issuer: string, kid = "one", claims: JWTPayload = {}): Promise<string> {
  const now = Math.floor(Date.now() / 1000);
  return new SignJWT({
    iss: issuer,
    aud: AUDIENCE,
    sub: "alice",
    iat: now,
    exp: now + 300,
    ...claims,
  })
    .setProtectedHeader({ alg: "ES256", kid, typ: "JWT" })
    .sign(known.privateKey);
}

/** The response of both transports. */
async function statusOf(
  vault: RunningVault,
  kind: Kind,
  headers: Record<string, string>,
): Promise<number[]> {
  const callers = [httpCaller(vault.http), grpcCaller(vault.grpc)];
  const request = requestOf(kind, "", headers);
  const statuses = await Promise.all(callers.map(({ call }) => call(request, "one-more")));
  for (const caller of callers) caller.close();
  return statuses;
}
