/** Browsers log in here, and people at an OpenID provider elsewhere: another svc-iam. */
import { beforeAll, expect, test } from "vitest";
import { Browser, type Visit } from "../../support/browser.ts";
import { databaseOf, RETURN, SESSION, whoIs } from "../../support/browser-login.ts";
import type { IamService } from "../../support/iam-service.ts";
import { PASSWORD } from "../../support/memory-accounts.ts";
import { startTwoServices } from "../../support/two-services.ts";

const LOGOUT = "/v1/iam/logout";

let provider: IamService;
let service: IamService;
beforeAll(async () => {
  const started = await startTwoServices();
  ({ provider, service } = started);
  return () => started.stop();
});

/** A person's browser, which keeps the cookies of both services. */
function newPerson() {
  const browsers = new Map(
    [service, provider].map(({ origin }) => [origin, new Browser(origin)] as const),
  );
  const browserOf = (url: string) => browsers.get(new URL(url).origin) as Browser;
  /** Follows redirects from one service to the other. */
  const follow = async (visit: Visit): Promise<Visit> => {
    let at = visit;
    while (at.text === "" && at.status < 400) at = await browserOf(at.url).open(at.url);
    return at;
  };
  return {
    here: browserOf(service.origin),
    open: async (url: string) => follow(await browserOf(url).open(url)),
    submit: async (page: Visit, fields: Record<string, string>) =>
      follow(await browserOf(page.url).submit(page, fields)),
  };
}

const at = (path: string) => `${service.origin}${path}`;
const LOGIN = { action: "login", username: "alice", password: PASSWORD };

async function loggedIn() {
  const person = newPerson();
  const page = await person.open(at(`/v1/iam/ui/login?return_to=${encodeURIComponent(RETURN)}`));
  expect(new URL(page.url).origin).toBe(provider.origin);
  const back = await person.submit(page, LOGIN);
  return { person, back };
}

test("a person logs in there, and comes back to the page that was asked for [IDP-1, IDP-4]", async () => {
  const { person, back } = await loggedIn();
  expect(back.url).toBe(at(RETURN));
  expect(await whoIs(service, person.here)).toBe("alice");
});

test("tokens are refreshed there", async () => {
  const { person } = await loggedIn();
  const { kysely } = databaseOf(service);
  const tokens = () => kysely.selectFrom("iam_browser_sessions").select("tokens").execute();
  const before = await tokens();
  await kysely.updateTable("iam_browser_sessions").set({ refresh_time: 1 }).execute();
  const calls = [whoIs(service, person.here), whoIs(service, person.here)];
  expect(await Promise.all(calls)).toEqual(["alice", "alice"]);
  expect(
    (await tokens()).filter((one, index) => one.tokens !== before[index]?.tokens),
  ).toHaveLength(1);
});

test("a logout ends the login here, then there, and comes back", async () => {
  const { person } = await loggedIn();
  const ended = () =>
    databaseOf(service).kysely.selectFrom("iam_revocations").select("kind").execute();
  const before = await ended();
  const page = await person.open(at(LOGOUT));
  const leaving = await person.submit(page, {});
  // The access token has ended at services.
  expect((await ended()).slice(before.length)).toEqual([{ kind: "jti" }]);
  expect([leaving.status, leaving.url]).toEqual([200, at(LOGOUT)]);
  const next = /<a class="button" href="([^"]*)"/.exec(leaving.text)?.[1] ?? "";
  const asked = await person.open(next.replaceAll("&amp;", "&"));
  expect(asked.url).toContain(`${provider.origin}/v1/iam/oidc/session/end`);
  expect(person.here.cookie(SESSION)).toBeUndefined();
  const left = await person.submit(asked, { logout: "yes" });
  expect([left.url.split("?")[0], left.status]).toEqual([at(LOGOUT), 200]);
  expect(left.text).toContain("Logged out");
  const again = await person.open(at("/v1/iam/ui/login"));
  expect(again.text).toContain('name="password"');
});

test("while the provider is down, nobody logs in, sessions continue, and a logout counts here", async () => {
  const { person } = await loggedIn();
  const page = await person.open(at(LOGOUT));
  await provider.stop();
  expect(await whoIs(service, person.here)).toBe("alice");
  const left = await person.submit(page, {});
  expect(left.status).toBeLessThan(500);
  expect(await whoIs(service, person.here)).toBe(401);
});
