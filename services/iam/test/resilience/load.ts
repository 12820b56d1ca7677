import { expect } from "vitest";
import { until } from "../../../../test/support/until.ts";
import { AS_HUB } from "../support/iam-service.ts";
import { type LoggedIn, withToken } from "../support/log-in-at.ts";
import { Random } from "../support/random.ts";
import { Person } from "./person.ts";
import type { Platform } from "./platform.ts";
import type { Replica } from "./replica.ts";

/** The status of a call with an access token. */
export async function me(
  at: Pick<Replica, "call">,
  tokens: Pick<LoggedIn, "accessToken">,
): Promise<number> {
  return (await at.call("GET", "/v1/iam/me", undefined, withToken(tokens))).status;
}

/** Uses a refresh token. */
export function refreshAt(at: Pick<Replica, "call">, { refreshToken }: LoggedIn) {
  return at.call("POST", "/v1/iam/tokens:refresh", { refreshToken }, AS_HUB);
}

/** Sends calls there; the connections that there were are broken, which fetch learns before it returns. */
export async function send({ balancer, call }: Platform, ...to: readonly number[]): Promise<void> {
  balancer.use(...to);
  await until("calls arrive", () =>
    call("GET", "/healthz").then(
      () => true,
      () => false,
    ),
  );
}

/** The people who act. */
export interface Load {
  /** Waits until so many more calls are answered. */
  more(count: number): Promise<void>;
  /** Waits until all have new tokens. */
  renewed(): Promise<void>;
}

/** Lets people act while work is done, and checks that all that was acknowledged is there. */
export async function underLoad(
  platform: Platform,
  work: (load: Load) => Promise<void>,
): Promise<void> {
  const seed = Math.floor(Math.random() * 2 ** 31);
  const people: Person[] = [];
  for (let index = 0; index < 4; index++) {
    const username = `person-${seed}-${index}`;
    const user = { username, id: await platform.addUser(username) };
    people.push(new Person(platform, new Random(seed + index), user));
  }
  const steps = () => people.reduce((sum, person) => sum + person.steps, 0);
  let isOver = false;
  const acting = Promise.all(people.map((person) => person.act(() => isOver)));
  const more = async (count: number) => {
    const before = steps();
    const done = until("more calls are answered", () => steps() >= before + count);
    // A refusal ends the test at once.
    await Promise.race([done, acting]);
  };
  const renewed = async () => {
    // A refusal ends the test at once.
    await Promise.race([Promise.all(people.map((person) => person.renewed())), acting]);
  };
  await more(20);
  await work({ more, renewed });
  await more(20);
  isOver = true;
  await acting;
  for (const person of people) {
    const there = await person.sessionIds();
    expect(there, `seed ${seed}`).toEqual(
      expect.arrayContaining(person.logins.map(({ sessionId }) => sessionId)),
    );
    for (const login of person.logins) {
      await person.read(login);
      await person.refresh(login);
    }
    for (const { sessionId, tokens } of person.ended) {
      expect(there).not.toContain(sessionId);
      for (const one of platform.replicas) {
        expect((await refreshAt(one, tokens)).status).toBe(400);
        await until("its access token is refused", async () => (await me(one, tokens)) === 401);
      }
    }
  }
}
