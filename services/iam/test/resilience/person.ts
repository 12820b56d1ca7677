import { type Answer, AS_HUB, asUser } from "../support/iam-service.ts";
import { type LoggedIn, logInAt, withToken } from "../support/log-in-at.ts";
import type { Random } from "../support/random.ts";
import { PASSWORD, type Platform } from "./platform.ts";

/** A login that was acknowledged. */
export interface KnownLogin {
  readonly sessionId: string;
  tokens: LoggedIn;
}

/** Somebody who logs in, refreshes, reads and ends sessions, and repeats what got no response. */
export class Person {
  /** The logins that have not been ended. */
  readonly logins: KnownLogin[] = [];
  /** Those of which the end was acknowledged. */
  readonly ended: KnownLogin[] = [];
  /** How many calls were acknowledged. */
  steps = 0;
  /** How many calls were repeated. */
  repeated = 0;
  /** Who waits for new tokens. */
  #renewed: (() => void) | undefined;
  readonly #platform: Platform;
  readonly #random: Random;
  readonly username: string;
  readonly id: string;

  constructor(platform: Platform, random: Random, user: { username: string; id: string }) {
    this.#platform = platform;
    this.#random = random;
    this.username = user.username;
    this.id = user.id;
  }

  /** Does things until a condition holds; fails if any of them is refused. */
  async act(isOver: () => boolean): Promise<void> {
    await this.logIn();
    while (!isOver()) {
      if (this.#renewed !== undefined) await this.#refreshAll(this.#renewed);
      const chance = this.#random.below(20);
      if (chance === 0) await this.logIn();
      else if (chance === 1 && this.logins.length > 1) await this.end();
      else if (chance < 10) await this.read();
      else await this.refresh();
      this.steps++;
    }
  }

  /**
   * Has the tokens of all logins refreshed, by somebody who acts. Tests that let days pass do so
   * before, since every access token would have expired.
   */
  renewed(): Promise<void> {
    return new Promise((resolve) => {
      this.#renewed = resolve;
    });
  }

  async #refreshAll(done: () => void): Promise<void> {
    this.#renewed = undefined;
    for (const login of this.logins) await this.refresh(login);
    done();
  }

  async logIn(): Promise<void> {
    const tokens = await this.#untilAnswered(() =>
      logInAt(this.#platform, this.username, PASSWORD).catch((error: unknown) => {
        // A page or a code of the login that a replica was about to send.
        if (/: (?:0|429|503) /.test(String(error))) return undefined;
        throw error;
      }),
    );
    const { body } = await this.#expect(200, "GET", "/v1/iam/me/sessions", undefined, tokens);
    const { id } = body.sessions.find((one: { current?: boolean }) => one.current);
    this.logins.push({ sessionId: id, tokens });
  }

  async refresh(login = this.#one()): Promise<void> {
    const { refreshToken } = login.tokens;
    const path = "/v1/iam/tokens:refresh";
    const [before, begun] = [this.repeated, performance.now()];
    const answer = await this.#answer(() =>
      this.#platform.call("POST", path, { refreshToken }, AS_HUB),
    );
    if (answer.status !== 200) {
      const took = Math.round(performance.now() - begun);
      const what = `a refresh, repeated ${this.repeated - before} times in ${took} ms,`;
      throw refused(what, answer);
    }
    login.tokens = answer.body.tokens;
  }

  async read(login = this.#one()): Promise<void> {
    await this.#expect(200, "GET", "/v1/iam/me", undefined, login.tokens);
  }

  /** Ends the oldest login, with the tokens of another one. */
  async end(): Promise<void> {
    const [gone, other] = this.logins as [KnownLogin, KnownLogin];
    const path = `/v1/iam/me/sessions/${gone.sessionId}`;
    const before = this.repeated;
    const answer = await this.#answer(() =>
      this.#platform.call("DELETE", path, undefined, withToken(other.tokens)),
    );
    // One that got no response may have ended it.
    const isEnded = answer.status === 200 || (answer.status === 404 && this.repeated > before);
    if (!isEnded) throw refused("the end of a session", answer);
    this.logins.shift();
    this.ended.push(gone);
  }

  /** What the service has, by the ids of the sessions. */
  async sessionIds(): Promise<string[]> {
    const { body } = await this.#answer(() =>
      this.#platform.call("GET", "/v1/iam/me/sessions", undefined, asUser(this.id)),
    );
    return body.sessions.map(({ id }: { id: string }) => id);
  }

  #one(): KnownLogin {
    return this.#random.pick(this.logins);
  }

  async #expect(
    status: number,
    method: string,
    path: string,
    body: unknown,
    tokens: LoggedIn,
  ): Promise<Answer> {
    const answer = await this.#answer(() =>
      this.#platform.call(method, path, body, withToken(tokens)),
    );
    if (answer.status !== status) throw refused(path, answer);
    return answer;
  }

  /** Repeats a call that got no response, or was refused for a moment. */
  #answer(call: () => Promise<Answer>): Promise<Answer> {
    return this.#untilAnswered(async () => {
      const answer = await call();
      return answer.status === 503 || answer.status === 429 ? undefined : answer;
    });
  }

  async #untilAnswered<T>(call: () => Promise<T | undefined>): Promise<T> {
    for (;;) {
      try {
        const result = await call();
        if (result !== undefined) return result;
      } catch (error) {
        // fetch failed: the connection was broken.
        if (!(error instanceof TypeError)) throw error;
      }
      this.repeated++;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

function refused(what: string, { status, body }: Answer): Error {
  return new Error(`${what} was refused: ${status} ${JSON.stringify(body)}`);
}
