/** Pages in a real Chromium call the hub from other origins, with the clients for browsers. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { KeyServer } from "../runtime/authn/jwt/key-server.ts";
import { rsaKey, signToken } from "../runtime/authn/jwt/tokens.ts";
import {
  type Certificates,
  makeCertificates,
  opensslIsAbsent,
} from "../runtime/tls/support/certificates.ts";
import { Chromium, chromiumIsAbsent } from "../support/browser/chromium.ts";
import { columnsOf } from "../support/effort.ts";
import { AS } from "./support/caller.ts";
import { writeConfiguration } from "./support/configuration.ts";
import { HubProcesses } from "./support/hub-process.ts";
import { bundledPage, PageServer } from "./support/page-server.ts";
import { ReflectionClient } from "./support/reflection-client.ts";
import { endRun, openWorkshop, reportsOf, startRun } from "./support/runs.ts";
import { Scene } from "./support/scene.ts";
import { CLIENTS, type Outcome, type Outcomes, type Settings } from "./support/web-page/outcome.ts";

const SERVER = [
  { name: "HTTP/1.1", isSecure: false, streams: 4 },
  // All use one connection: over HTTP/1.1, the seventh would wait forever.
  { name: "HTTP/2 over TLS", isSecure: true, streams: 20 },
];
const AUDIENCE = "the-frontend";
const LINES = ["three", "two", "one"];
/** The callers, each with its own rate limits. */
const USERS = CLIENTS.map((_, index) => `user-${index}`);

const transportOf = (client: string) => (client.startsWith("Connect") ? "connect" : "grpc_web");

describe.skipIf(chromiumIsAbsent() || opensslIsAbsent()).each(columnsOf(SERVER, 1, 2))(
  "over $name [PLAT-4]",
  ({ isSecure, streams }) => {
    let keys: KeyServer;
    let certificates: Certificates;
    let page: PageServer;
    let stranger: PageServer;
    let processes: HubProcesses;
    let browser: Chromium;
    let outcomes: Outcomes;
    let foreign: Outcomes;
    let settings: Settings;

    beforeAll(async () => {
      const key = rsaKey("key-1");
      keys = await new KeyServer().start();
      keys.keys = [key.jwk];
      const now = Math.floor(Date.now() / 1000);
      const tokenOf = (sub: string) =>
        signToken(key, { iss: keys.url, aud: AUDIENCE, sub, iat: now, exp: now + 3600 });
      certificates = makeCertificates();

      const script = await bundledPage();
      const current = () => settings;
      stranger = await PageServer.start(script, () => ({ ...settings, isStranger: true }));
      page = await PageServer.start(script, current, stranger.origin);
      processes = await HubProcesses.start({
        configuration: configurationOf(certificates, { isSecure, page, keys }),
      });
      const { http } = processes;
      settings = {
        hub: isSecure ? http.replace("http:", "https:") : http,
        isStranger: false,
        tokens: USERS.map(tokenOf),
        stranger: tokenOf("mallory"),
        ...(await runsOf(processes)),
        streams,
      };
      browser = new Chromium(page.origin, ...(isSecure ? ["--ignore-certificate-errors"] : []));
      [outcomes, foreign] = await browser.until(Promise.all([page.outcomes, stranger.outcomes]));
      expect(outcomes).not.toHaveProperty("failed");
      expect(foreign).not.toHaveProperty("failed");
    });
    afterAll(async () => {
      await browser?.close();
      page?.close();
      stranger?.close();
      await processes?.remove();
      certificates?.remove();
      await keys?.stop();
    });

    const outcome = (client: string, name: string): Outcome => {
      const found = outcomes[client]?.[name];
      if (found === undefined) throw new Error(`the page did not try ${name} by ${client}`);
      return found;
    };
    const line = (client: string, rpc: string, code: string, subject?: string) =>
      processes.hub.line(
        (entry) =>
          entry["rpc"] === rpc &&
          entry["code"] === code &&
          entry["transport"] === transportOf(client) &&
          entry["subject"] === subject,
      );

    describe.each(CLIENTS)("%s", (client) => {
      const user = USERS[CLIENTS.indexOf(client)] as string;

      test("a page of an origin that is not allowed gets nothing", () => {
        const tried = foreign[client]?.["stranger"];
        expect(tried?.messages).toEqual([]);
        expect(tried?.requestId).toBeNull();
        expect(tried?.error?.details).toEqual([]);
        expect(tried?.error?.code).toMatch(/^(Unknown|Unavailable|Internal)$/);
      });

      test("a page may not send identity headers: the browser asks first", () => {
        expect(outcome(client, "forged")).toMatchObject({ messages: [], requestId: null });
        expect(outcome(client, "forged").error).toBeDefined();
        const subjects = processes.hub.lines.flatMap(({ transport, subject }) =>
          transport === transportOf(client) ? [subject] : [],
        );
        expect(subjects).not.toContain("user:alice");
      });

      test("errors have their code, their message and details", () => {
        const { error } = outcome(client, "nobody");
        expect(error).toMatchObject({ code: "Unauthenticated", message: "missing principal" });
        expect(reasonOf(error)).toContain("UNAUTHORIZED");
        const denied = outcome(client, "notAllowed").error;
        expect(denied).toMatchObject({ code: "PermissionDenied", message: "permission denied" });
        expect(reasonOf(denied)).toContain("FORBIDDEN");
      });

      test("a stream that fails gets the reason", () => {
        const { messages, error } = outcome(client, "unknown");
        expect(messages).toEqual([]);
        expect(error?.code).toBe("NotFound");
        expect(reasonOf(error)).toContain("RESOURCE_NOT_FOUND");
      });

      test("a unary call has its message, and headers that the page may read", async () => {
        const { messages, requestId, error } = outcome(client, "unary");
        expect(error).toBeUndefined();
        expect(messages).toEqual([{ me: expect.objectContaining({ userId: user }) }]);
        expect(requestId).toMatch(/^[0-9a-f-]{36}$/);
        await line(client, "hub.authn.v1.AuthnService/GetMe", "OK", `user:${user}`);
      });

      test("a stream has all messages, in order", () => {
        const { messages, error } = outcome(client, "stream");
        expect(error).toBeUndefined();
        expect(messages).toEqual([
          ...LINES.map((text) => ({ line: expect.objectContaining({ text }) })),
          { ended: "RUN_STATE_SUCCEEDED" },
        ]);
      });

      test("a client that disconnects ends the call at the hub, too", async () => {
        const { messages, error } = outcome(client, "cancelled");
        expect(messages).toHaveLength(1);
        expect(error?.code).toBe("Canceled");
        await line(client, "hub.projects.v1.ProjectService/WatchRun", "CANCELLED", `user:${user}`);
      });

      test("a deadline passes", () => {
        // On a slow machine before the first message.
        expect(outcome(client, "late").error?.code).toBe("DeadlineExceeded");
      });
    });

    test.each(CLIENTS.filter((name) => name.startsWith("Connect")))(
      "%s: RPCs without side effects are called with GET",
      (client) => {
        const { messages, methods, error } = outcome(client, "get");
        expect(error).toBeUndefined();
        expect(methods).toEqual(["GET"]);
        const [{ projects }] = messages as [{ projects: object[] }];
        expect(projects).toEqual([expect.objectContaining({ displayName: "Rockets" })]);
        expect(outcome(client, "unary").methods).toEqual(["POST"]);
      },
    );

    test("many streams are open at once", () => {
      expect(outcomes["health"]?.["watch"]).toEqual({
        messages: Array.from({ length: streams }, () => ({ status: "SERVING" })),
        requestId: null,
        methods: Array.from({ length: streams }, () => "POST"),
      });
    });

    test("the browser ends with all its processes", async () => {
      expect(browser.processes().length).toBeGreaterThan(1);
      await browser.close();
      await expect
        .poll(() => browser.processes(), { message: "the processes of the browser have ended" })
        .toEqual([]);
    });
  },
);

function reasonOf(error: Outcome["error"]): string {
  const [detail] = error?.details ?? [];
  expect(detail?.type).toBe("google.rpc.ErrorInfo");
  return Buffer.from(detail?.value ?? "", "base64").toString("latin1");
}

/** The hub's configuration, with the page's origin, a provider of tokens, and a certificate where it needs one. */
function configurationOf(
  certificates: Certificates,
  { isSecure, page, keys }: { isSecure: boolean; page: PageServer; keys: KeyServer },
): string {
  return writeConfiguration(certificates.path("hub.yaml"), ({ server, security }) => {
    server.http.cors.allowed_origins = [page.origin];
    security.authn.mode = "hybrid";
    security.authn.oidc = { issuer: keys.url, audience: [AUDIENCE] };
    if (!isSecure) return;
    const { certificateFile, keyFile } = certificates.selfSigned("hub", { names: "IP:127.0.0.1" });
    server.http.tls = { certificate_file: certificateFile, key_file: keyFile };
  });
}

/** A project that the users may see, with a run that has ended and one that has not. */
async function runsOf(processes: HubProcesses) {
  const client = new ReflectionClient(processes.grpc);
  try {
    const scene = new Scene(client);
    const workshop = await openWorkshop(scene);
    const { projectId } = workshop;
    for (const userId of USERS) {
      const member = { role: "ROLE_VIEWER", userId };
      await scene.one("AuthzService/GrantRole", { projectId, member });
    }
    const run = async (texts: readonly string[]) => {
      const runId = await startRun(scene, workshop);
      await scene.one("RunnerService/ReportLog", reportsOf(workshop, runId, texts), AS.git);
      return runId;
    };
    const ended = await run(LINES);
    await endRun(scene, workshop, ended);
    return { projectId, ended, running: await run(["still here"]) };
  } finally {
    client.close();
  }
}
