/** `oidc-provider` finds in a form what the checks before it have seen, and nothing else. */
import * as client from "openid-client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { FORM_TOKEN } from "../../../src/pages/form-tokens.ts";
import { Browser, fieldOf } from "../../support/browser.ts";
import {
  CONSOLE,
  type RunningProvider,
  startProvider,
  stopAll,
  TV,
} from "../../support/provider-server.ts";

const FORM = "application/x-www-form-urlencoded";
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);
const CONFIRMATION = 'name="confirm"';

let iam: RunningProvider;
let tv: client.Configuration;
beforeAll(async () => {
  iam = await startProvider({ clients: [CONSOLE, TV] });
  tv = await iam.configure(TV);
});
afterAll(stopAll);

/** A page of a browser with a code that a device shows. */
async function shown() {
  const { user_code } = await client.initiateDeviceAuthorization(tv, { scope: "openid" });
  const browser = new Browser(iam.origin);
  const page = await browser.open(`${iam.issuer}/device`);
  const fields = { [FORM_TOKEN]: fieldOf(page, FORM_TOKEN), xsrf: fieldOf(page, "xsrf") };
  const send = async (type: string, body: Buffer) => {
    const headers = { "content-type": type };
    const init = { method: "POST", headers, body: new Uint8Array(body) };
    const response = await browser.request(`${iam.issuer}/device`, init);
    return { status: response.status, text: await response.text() };
  };
  return { user_code, fields, send };
}

/** The text of some fields, as it is sent. */
function text(fields: Readonly<Record<string, string>>): string {
  return new URLSearchParams(fields).toString();
}

test.each(["charset=utf-8", 'charset="utf-8"', "charset=UTF8", "x=1; charset=utf-8"])(
  "a user code after a byte order mark is none, with %s",
  async (parameters) => {
    const { user_code, fields, send } = await shown();
    const rest = Buffer.from(text({ user_code, ...fields }));
    const sent = await send(`${FORM}; ${parameters}`, Buffer.concat([BYTE_ORDER_MARK, rest]));
    expect(sent.text).not.toContain(CONFIRMATION);
  },
);

test.each(["utf-16le", "utf-16be"])("a user code in %s is none", async (charset) => {
  const { user_code, fields, send } = await shown();
  const token = fields[FORM_TOKEN] ?? "";
  // An even number of bytes.
  const start = text({ [FORM_TOKEN]: token, even: "" });
  const head = Buffer.from(start.length % 2 === 0 ? start : `${start}x`);
  const rest = Buffer.from(`&${text({ user_code, xsrf: fields.xsrf })}`, "utf16le");
  const sent = await send(
    `${FORM}; charset=${charset}`,
    Buffer.concat([head, charset === "utf-16le" ? rest : rest.swap16()]),
  );
  expect(sent.text).not.toContain(CONFIRMATION);
});

test.each([
  FORM,
  `${FORM};charset=UTF-8`,
  // As some libraries send it for what is ASCII.
  `${FORM}; charset=ISO-8859-1`,
  "Application/X-WWW-Form-URLEncoded ; charset=utf-8",
])("a form of the type %s is read", async (type) => {
  const { user_code, fields, send } = await shown();
  const sent = await send(type, Buffer.from(text({ user_code, ...fields })));
  expect([sent.status, sent.text]).toEqual([200, expect.stringContaining(CONFIRMATION)]);
});

test.each(["multipart/form-data; boundary=x", "application/json", "text/plain; x=y"])(
  "a body of the type %s is not a form",
  async (type) => {
    const { user_code, fields, send } = await shown();
    const sent = await send(type, Buffer.from(text({ user_code, ...fields })));
    expect([sent.status, sent.text]).toEqual([400, expect.not.stringContaining(CONFIRMATION)]);
  },
);

test.each([
  ["an escape in the name", "user%5Fcode=BBBB-BBBB"],
  ["two values", "user_code=BBBB-BBBB&user_code=CCCC-CCCC"],
  ["a value that is not UTF-8", "user_code=%ff"],
  ["a byte order mark in a field before it", "%EF%BB%BFx=1&user_code=BBBB-BBBB"],
])("guesses with %s are counted", async (_, guess) => {
  const own = await startProvider();
  const browser = new Browser(own.origin);
  const page = await browser.open(`${own.issuer}/device`);
  const fields = { [FORM_TOKEN]: fieldOf(page, FORM_TOKEN), xsrf: fieldOf(page, "xsrf") };
  let status = 0;
  for (let count = 0; count < 10 && status !== 429; count++) {
    const body = `${guess}&${text(fields)}`;
    const headers = { "content-type": `${FORM}; charset=utf-8` };
    ({ status } = await browser.request(`${own.issuer}/device`, { method: "POST", headers, body }));
  }
  expect(status).toBe(429);
  await own.stop();
});
