/** Logins as browsers behind a gateway make them: each person has an address. */
import { createHash, randomBytes } from "node:crypto";
import { Browser, fieldOf } from "../../services/iam/test/support/browser.ts";
import { type BenchIam, HUB_TOKEN, PASSWORD, REDIRECT_URI } from "./iam-service.ts";

/** A login page that is shown, and that its person is about to send. */
export interface ShownLogin {
  /** Sends the form. @returns where the provider sends the browser */
  send(): Promise<string>;
  readonly browser: Browser;
  readonly codeVerifier: string;
}

/** A browser whose address the gateway reports with each request. */
class PersonBrowser extends Browser {
  readonly #address: Readonly<Record<string, string>>;

  constructor(origin: string, person: number) {
    super(origin);
    this.#address = { "x-forwarded-for": `198.51.${100 + (person >> 8)}.${person & 255}` };
  }

  override request(url: string, init: RequestInit = {}): Promise<Response> {
    return super.request(url, { ...init, headers: this.#address });
  }
}

/** Opens the login page in a new browser. */
export async function showLogin(
  iam: Pick<BenchIam, "origin">,
  person: number,
): Promise<ShownLogin> {
  const browser = new PersonBrowser(iam.origin, person);
  const codeVerifier = randomBytes(32).toString("base64url");
  const query = new URLSearchParams({
    redirect_uri: REDIRECT_URI,
    state: "a state",
    code_challenge: createHash("sha256").update(codeVerifier).digest("base64url"),
  });
  const begun = await browser.request(`${iam.origin}/v1/iam/login-url?${query}`);
  const { loginUrl } = (await begun.json()) as { loginUrl: string };
  const page = await browser.open(loginUrl);
  const body = new URLSearchParams({
    form_token: fieldOf(page, "form_token"),
    action: "login",
    username: `p${person}`,
    password: PASSWORD,
  });
  return {
    browser,
    codeVerifier,
    async send() {
      const answer = await browser.request(page.url, { method: "POST", body });
      const text = await answer.text();
      const location = answer.headers.get("location");
      if (answer.status !== 303 || location === null) {
        throw new Error(`the login failed: ${answer.status} ${text}`);
      }
      return new URL(location, page.url).href;
    },
  };
}

/** Logs a person in to the end. @returns the access token */
export async function accessToken(iam: Pick<BenchIam, "origin">, person: number): Promise<string> {
  const { send, browser, codeVerifier } = await showLogin(iam, person);
  const visit = await browser.open(await send());
  const code = new URL(visit.url).searchParams.get("code");
  const exchanged = await fetch(`${iam.origin}/v1/iam/tokens:exchange`, {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-Svc-Internal-Token": HUB_TOKEN },
    body: JSON.stringify({ code, redirectUri: REDIRECT_URI, codeVerifier }),
  });
  const { tokens } = (await exchanged.json()) as { tokens?: { accessToken: string } };
  if (tokens === undefined) throw new Error(`the exchange failed: ${exchanged.status}`);
  return tokens.accessToken;
}
