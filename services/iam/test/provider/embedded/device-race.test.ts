import * as client from "openid-client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Browser } from "../../support/browser.ts";
import { ALICE, MemoryAccounts } from "../../support/memory-accounts.ts";
import {
  CONSOLE,
  logIn,
  pollDevice,
  type RunningProvider,
  startProvider,
  stopAll,
  TV,
} from "../../support/provider-server.ts";

/** Calls something when an account is next looked up, which is after the session was read. */
class HookedAccounts extends MemoryAccounts {
  hook: (() => Promise<unknown>) | undefined;

  override async find(id: string) {
    const { hook } = this;
    this.hook = undefined;
    await hook?.();
    return super.find(id);
  }
}

const accounts = new HookedAccounts();
let iam: RunningProvider;
let tv: client.Configuration;
beforeAll(async () => {
  iam = await startProvider({ clients: [CONSOLE, TV], accounts });
  tv = await iam.configure(TV);
});
afterAll(stopAll);

/** Ends all sessions when an account is next looked up, as the change of its password does. */
function endMeanwhile(): readonly unknown[] {
  const ended: unknown[] = [];
  accounts.hook = async () => {
    ended.push(await iam.provider.sessions.endWith(ALICE.id, async () => true));
  };
  return ended;
}

async function confirmation(browser: Browser) {
  const begun = await client.initiateDeviceAuthorization(tv, { scope: "openid profile" });
  const page = await browser.open(begun.verification_uri_complete ?? "");
  return { begun, page: await browser.submit(page, {}) };
}

const poll = ({ device_code }: client.DeviceAuthorizationResponse) => pollDevice(iam, device_code);

test("a device whose approval was under way when all sessions ended is not logged in [IDP-28]", async () => {
  const browser = new Browser(iam.origin);
  await logIn(await iam.configure(CONSOLE), browser);
  const { begun, page } = await confirmation(browser);
  const ended = endMeanwhile();
  const answer = await browser.submit(page, { confirm: "yes" });
  expect(ended).toHaveLength(1);
  expect(answer.text).not.toContain("The device is logged in");
  const { status, text } = await poll(begun);
  expect(status).toBe(400);
  expect(text).not.toContain("access_token");
  expect(await iam.provider.sessions.list(ALICE.id)).toEqual([]);
});

test("a device that asks for its tokens when all sessions end gets none [IDP-28]", async () => {
  const browser = new Browser(iam.origin);
  await logIn(await iam.configure(CONSOLE), browser);
  const { begun, page } = await confirmation(browser);
  const answer = await browser.submit(page, { confirm: "yes" });
  expect(answer.text).toContain("The device is logged in");
  const ended = endMeanwhile();
  const { status, text } = await poll(begun);
  expect(ended).toHaveLength(1);
  expect(text).not.toContain("access_token");
  expect(status).toBe(400);
  expect(await iam.provider.sessions.list(ALICE.id)).toEqual([]);
});
