/** Codes of devices that were approved, and not used yet, when the session ends that approved them. */
import { decodeJwt } from "jose";
import * as client from "openid-client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Browser } from "../../support/browser.ts";
import { ALICE } from "../../support/memory-accounts.ts";
import {
  CONSOLE,
  logIn,
  pollDevice,
  type RunningProvider,
  startProvider,
  stopAll,
  TV,
} from "../../support/provider-server.ts";

let iam: RunningProvider;
let tv: client.Configuration;
let web: client.Configuration;
beforeAll(async () => {
  iam = await startProvider({ clients: [CONSOLE, TV] });
  tv = await iam.configure(TV);
  web = await iam.configure(CONSOLE);
});
afterAll(stopAll);

/** Approves a device in a new session. */
async function approve() {
  const browser = new Browser(iam.origin);
  const { id_token = "", ...tokens } = await logIn(web, browser);
  const sid = decodeJwt(tokens.access_token)["sid"];
  const sessions = await iam.provider.sessions.list(ALICE.id);
  const own = sessions.find(({ clients }) => clients.some((one) => one.sid === sid));
  const begun = await client.initiateDeviceAuthorization(tv, { scope: "openid profile" });
  const page = await browser.open(begun.verification_uri_complete ?? "");
  const answer = await browser.submit(await browser.submit(page, {}), { confirm: "yes" });
  expect(answer.text).toContain("The device is logged in");
  return { browser, id_token, uid: own?.id ?? expect.fail(), deviceCode: begun.device_code };
}

/** Uses the code of a device. @returns the status, and the error */
async function poll(deviceCode: string): Promise<readonly [number, string | undefined]> {
  const { status, text } = await pollDevice(iam, deviceCode);
  return [status, JSON.parse(text).error];
}

const listed = async () =>
  (await iam.provider.sessions.list(ALICE.id)).map(({ id, kind }) => ({ id, kind }));
const within = <T>(work: () => Promise<T>) =>
  iam.provider.within({ call: { clientAddress: "" } as never }, work);

type Approved = Awaited<ReturnType<typeof approve>>;
const ENDS: readonly [string, (approved: Approved) => Promise<unknown>, boolean][] = [
  ["all sessions end", () => within(() => iam.provider.endSessions(ALICE.id)), false],
  [
    "all others than the one that approved it end",
    ({ uid }) => within(() => iam.provider.endSessions(ALICE.id, uid)),
    true,
  ],
  [
    "all others than a third one end",
    async () => {
      const { uid } = await approve();
      await within(() => iam.provider.endSessions(ALICE.id, uid));
    },
    true,
  ],
  [
    "the session that approved it ends",
    ({ uid }) => within(() => iam.provider.endSession(uid, ALICE.id)),
    false,
  ],
];
test.each(ENDS)("a code gives no session once %s [IDP-21]", async (_, end, hasOther) => {
  await within(() => iam.provider.endSessions(ALICE.id));
  const approved = await approve();
  await end(approved);
  expect(await poll(approved.deviceCode)).toEqual([400, "invalid_grant"]);
  expect((await listed()).map(({ kind }) => kind)).toEqual(hasOther ? ["browser"] : []);
});

test("a code stays once another session ends, or the browser logs out [IDP-8]", async () => {
  const [first, second, other] = [await approve(), await approve(), await approve()];
  await within(() => iam.provider.endSession(other.uid, ALICE.id));
  expect(await poll(first.deviceCode)).toEqual([200, undefined]);
  const logout = client.buildEndSessionUrl(web, { id_token_hint: second.id_token });
  await second.browser.submit(await second.browser.open(logout.href), { logout: "yes" });
  expect((await listed()).map(({ id }) => id)).not.toContain(second.uid);
  expect(await poll(second.deviceCode)).toEqual([200, undefined]);
});

test("a used code whose session has ended ends its device when it is used again [IDP-23]", async () => {
  await within(() => iam.provider.endSessions(ALICE.id));
  const { uid, deviceCode } = await approve();
  expect(await poll(deviceCode)).toEqual([200, undefined]);
  await within(() => iam.provider.endSession(uid, ALICE.id));
  expect((await listed()).map(({ kind }) => kind)).toEqual(["device"]);
  const before = (await iam.events("device_code.reused")).length;
  expect(await poll(deviceCode)).toEqual([400, "invalid_grant"]);
  expect(await iam.events("device_code.reused")).toHaveLength(before + 1);
});
