/** One svc-iam over SQLite, in a process of its own, whose clock jumps by an hour around its restarts. */
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { decodeJwt } from "jose";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { IS_THOROUGH } from "../../../../test/support/effort.ts";
import { freePort } from "../../../../test/support/free-port.ts";
import { until } from "../../../../test/support/until.ts";
import { FIRST } from "../support/bootstrap.ts";
import { asUser, INTERNAL_TOKEN, LOGIN_CLIENT, REDIRECT_URI } from "../support/iam-service.ts";
import { type LoggedIn, logInAt, withToken } from "../support/log-in-at.ts";
import { me, refreshAt } from "./load.ts";
import { callAt, Replica } from "./replica.ts";

const HOUR = 3_600_000;
const JUMPS = [
  ["ahead", HOUR],
  ["behind", -HOUR],
] as const;
const MODEL = new URL("../../../../model/iam.zed", import.meta.url).pathname;

const folder = mkdtempSync(join(tmpdir(), "svc-iam-clock-"));
const service = new Replica(folder, { http: await freePort(), grpc: await freePort() });
const origin = `http://localhost:${service.port}`;
const place = {
  origin,
  call: (...of: Parameters<typeof callAt> extends [string, ...infer Rest] ? Rest : never) =>
    callAt(origin, ...of),
};

beforeAll(async () => {
  writeFileSync(join(folder, "encryption-key"), randomBytes(32).toString("base64"));
  writeFileSync(
    service.file,
    stringify({
      environment: "test",
      service: "iam",
      log: { level: "error" },
      server: {
        http: { address: `127.0.0.1:${service.port}` },
        grpc: { address: `127.0.0.1:${service.grpcPort}` },
        metrics: null,
      },
      security: {
        authn: {
          mode: "hybrid",
          provider: "embedded",
          oidc: { issuer: `${origin}/v1/iam/oidc`, audience: [LOGIN_CLIENT] },
          gateway: { trusted_peers: ["127.0.0.1"] },
          internal_call: { enabled: true, token: [{ service: "hub", token: INTERNAL_TOKEN }] },
        },
        authz: { provider: "embedded", model: MODEL },
      },
      database: { driver: "sqlite", file: join(folder, "iam.db") },
      iam: {
        services: { hub: { may_exchange_tokens: true } },
        organization: "acme",
        public_url: origin,
        encryption_key_file: join(folder, "encryption-key"),
        login: { client_id: LOGIN_CLIENT, redirect_uris: [REDIRECT_URI] },
      },
    }),
  );
  await service.start();
  const { stdout } = await service.run("bootstrap");
  const token = new URL(stdout.trim()).searchParams.get("token") ?? "";
  const body = new URLSearchParams({ ...FIRST, token });
  const made = await fetch(`${origin}/v1/iam/ui/bootstrap`, { method: "POST", body });
  expect(made.status).toBe(200);
});
afterAll(async () => {
  await service.kill();
  rmSync(folder, { recursive: true, force: true });
});

const logIn = () => logInAt(place, FIRST["username"] ?? "", FIRST["password"] ?? "");
const sessions = "/v1/iam/me/sessions";

async function sessionOf(tokens: LoggedIn): Promise<string> {
  const { body } = await service.call("GET", sessions, undefined, withToken(tokens));
  return body.sessions.find((one: { current?: boolean }) => one.current).id;
}

/** Ends a session of a user, as the gateway names them: tokens have the times of the clock. */
async function end(id: string, user: string): Promise<void> {
  const ended = await service.call("DELETE", `${sessions}/${id}`, undefined, asUser(user));
  expect(ended.status).toBe(200);
}

async function restart(): Promise<void> {
  await service.kill();
  await service.start();
}

describe("a clock", () => {
  test.each(IS_THOROUGH ? JUMPS : JUMPS.slice(0, 1))(
    "that is an hour %s at a restart, and right again, brings no ended login back, and ends none",
    async (_, jump) => {
      const [kept, before, during, used] = [
        await logIn(),
        await logIn(),
        await logIn(),
        await logIn(),
      ];
      const user = decodeJwt(kept.accessToken).sub ?? "";
      const id = await sessionOf(during);
      await end(await sessionOf(before), user);
      const expectEnded = async (...logins: readonly LoggedIn[]) => {
        for (const tokens of logins) {
          expect(await me(service, tokens)).toBe(401);
          expect((await refreshAt(service, tokens)).status).toBe(400);
        }
      };

      await service.shiftClock(jump);
      await restart();
      await expectEnded(before);
      await end(id, user);
      await expectEnded(before, during);
      const { status, body } = await refreshAt(service, used);
      expect(status).toBe(200);
      const wrong = body.tokens as LoggedIn;

      await service.shiftClock(0);
      await expectEnded(before, during);
      expect(await me(service, wrong), "a token of the wrong time").toBe(401);
      expect(await me(service, kept)).toBe(200);

      await restart();
      await until("it has read the revocations", async () => (await me(service, kept)) === 200);
      await expectEnded(before, during);
      for (const tokens of [kept, wrong]) {
        const next = await refreshAt(service, tokens);
        expect(next.status).toBe(200);
        expect(await me(service, next.body.tokens)).toBe(200);
      }
    },
  );
});
