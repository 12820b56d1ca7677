import { totpCode } from "../../src/people/factors/one-time-codes.ts";
import { Browser, type Visit } from "../support/browser.ts";
import { type Answer, AS_HUB, asUser } from "../support/iam-service.ts";
import { PASSWORD, type Platform } from "./platform.ts";
import type { Replica } from "./replica.ts";

const ACCOUNT = "/v1/iam/oidc/account";
/** How many browsers of a person stay logged in, each of which is looked at. */
const MOST_BROWSERS = 20;

/** Somebody with an authenticator app, who logs in with its codes, and whose browsers stay logged in. */
export class FactorPerson {
  logins = 0;
  readonly #browsers: Browser[] = [];
  readonly #platform: Platform;
  readonly #username: string;
  #secret = "";
  #usedStep = 0;

  constructor(platform: Platform, username: string) {
    this.#platform = platform;
    this.#username = username;
  }

  /** Adds the app, in the pages of the account. */
  async enroll(): Promise<void> {
    const browser = new Browser(this.#platform.origin);
    await this.#enterPassword(browser);
    const page = await browser.submit(await browser.open(this.#at("/factors")), {
      action: "new_app",
    });
    const shown = /<code>([A-Z2-7 ]+)<\/code>/.exec(page.text)?.[1] ?? "";
    this.#secret = shown.replaceAll(" ", "");
    const added = await browser.submit(page, { action: "app", code: this.#code() });
    if (!added.text.includes("recovery codes"))
      throw new Error(`no factor was added: ${added.text}`);
    this.#browsers.push(browser);
  }

  async act(isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      // A code counts once, and the number of codes of an account in an hour is limited.
      if (stepNow() > this.#usedStep + 1) await this.#logIn();
      await this.look();
    }
  }

  /** Each browser is still logged in: its account is shown, and no form for a password. */
  async look(): Promise<void> {
    for (const browser of this.#browsers) {
      const visit = await untilAnswered(() => browser.open(this.#at()));
      if (visit.url === this.#at() && visit.status === 200) continue;
      throw new Error(`${this.#username} was logged out: ${visit.status} ${visit.text}`);
    }
  }

  async #logIn(): Promise<void> {
    const { browser } = await untilAnswered(async () => {
      const one = new Browser(this.#platform.origin);
      const page = await this.#enterPassword(one);
      if (isRefusedForNow(page)) return { ...page, browser: undefined };
      const visit = await one.submit(page, { action: "code", code: this.#code() });
      if (visit.status === 503) return { ...visit, browser: undefined };
      if (visit.url === this.#at()) return { ...visit, browser: one };
      // An attempt that got no response has used the code.
      if ([401, 429].includes(visit.status)) return { status: 200, browser: undefined };
      throw new Error(`${this.#username} was not logged in: ${visit.status} ${visit.text}`);
    });
    if (browser === undefined) return;
    this.logins++;
    this.#browsers.push(browser);
    if (this.#browsers.length > MOST_BROWSERS) this.#browsers.splice(1, 1);
  }

  async #enterPassword(browser: Browser): Promise<Visit> {
    const page = await browser.open(this.#at());
    if (isRefusedForNow(page)) return page;
    return browser.submit(page, { action: "login", username: this.#username, password: PASSWORD });
  }

  #code(): string {
    this.#usedStep = stepNow();
    return totpCode(this.#secret, this.#usedStep);
  }

  #at(path = ""): string {
    return `${this.#platform.origin}${ACCOUNT}${path}`;
  }
}

/** A service that checks permissions and reads the directory, at each replica in turn. */
export class Checker {
  calls = 0;
  readonly wrong: string[] = [];
  readonly #replicas: readonly Replica[];
  readonly #owner: string;
  readonly #stranger: string;
  #next = 0;

  constructor(replicas: readonly Replica[], owner: string, stranger: string) {
    this.#replicas = replicas;
    this.#owner = owner;
    this.#stranger = stranger;
  }

  async act(isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      for (const [id, isAllowed] of [
        [this.#owner, true],
        [this.#stranger, false],
      ] as const) {
        const { status, body } = await this.#get(
          `/v1/iam/permissions:check?${checkOf(id)}`,
          AS_HUB,
        );
        // A permission that is not there is left out of the JSON.
        const isRight = status === 200 && (body.allowed ?? false) === isAllowed;
        if (!isRight) this.wrong.push(`check of ${id}: ${status} ${JSON.stringify(body)}`);
      }
      const path = "/v1/iam/organizations/acme/users?page_size=20";
      const { status, body } = await this.#get(path, asUser(this.#owner));
      if (status !== 200 || body.users.length < 2) {
        this.wrong.push(`the directory: ${status} ${JSON.stringify(body)}`);
      }
    }
  }

  /** One that is down, or refuses for a moment, is passed over. */
  async #get(path: string, headers: Readonly<Record<string, string>>): Promise<Answer> {
    return untilAnswered(async () => {
      const replica = this.#replicas[this.#next++ % this.#replicas.length] as Replica;
      const answer = await replica.call("GET", path, undefined, headers);
      if (answer.status === 200) this.calls++;
      return answer;
    });
  }
}

function checkOf(id: string): string {
  return new URLSearchParams({
    "resource.type": "zone",
    "resource.id": "acme",
    permission: "manage_users",
    "subject.type": "user",
    "subject.id": id,
  }).toString();
}

/** The half minute of the codes. */
const stepNow = () => Math.floor(Date.now() / 30_000);

const isRefusedForNow = ({ status }: { readonly status: number }) =>
  status === 503 || status === 429;

/** Repeats what got no response, or was refused for a moment. */
async function untilAnswered<T extends { readonly status: number }>(
  send: () => Promise<T>,
): Promise<T> {
  for (;;) {
    try {
      const answer = await send();
      if (!isRefusedForNow(answer)) return answer;
    } catch (error) {
      // fetch failed: the connection was broken.
      if (!(error instanceof TypeError)) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
