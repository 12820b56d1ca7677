/**
 * Logins with a password at svc-iam: the POST of the login form, beside what argon2id of `node:crypto`
 * alone allows at the same cost. `node bench/iam/password.ts` runs it alone.
 */
import { once } from "node:events";
import { parseHash } from "../../services/iam/src/people/accounts/passwords/hash-text.ts";
import { besidePinned } from "../pinning.ts";
import { PASSWORD, startIam } from "./iam-service.ts";
import { startPeer } from "./peer-process.ts";
import { type ShownLogin, showLogin } from "./people.ts";
import { compareRates, type Side } from "./rounds.ts";

const ROUNDS = 21;
/** The logins of a round. */
const LOGINS = 32;
/** How many forms are sent at once. */
const AT_ONCE = 8;
const WARM_UPS = 4;
const LIMIT = 0.7;
/** Each with an address: nobody is slowed for the attempts of others. */
const PEOPLE = 256;

/** Prints the ratio. */
export async function benchIamPassword(): Promise<void> {
  process.stdout.write("\niam-password: logins with a password\n");
  await besidePinned(compare);
}

async function compare(): Promise<void> {
  const iam = await startIam(PEOPLE);
  const { cost, hash } = parseHash(iam.passwordHash);
  const peer = await startPeer("argon2", { ...cost, length: hash.length }, PASSWORD);
  let shown: ShownLogin[] = [];
  let people = 0;
  const own: Side = {
    pid: iam.pid,
    async prepare() {
      for (let login = 0; login < LOGINS; login++) {
        shown.push(await showLogin(iam, people++ % PEOPLE));
      }
    },
    async work() {
      const left = shown.values();
      shown = [];
      await Promise.all(
        Array.from({ length: AT_ONCE }, async () => {
          for (const { send } of left) await send();
        }),
      );
      return LOGINS;
    },
  };
  const alone: Side = {
    pid: peer.child.pid,
    async work() {
      const done = once(peer.child, "message");
      peer.child.send(LOGINS);
      await done;
      return LOGINS;
    },
  };
  try {
    for (let round = 0; round < WARM_UPS; round++) {
      await own.prepare?.();
      await own.work();
      await alone.work();
    }
    await compareRates("login POST / argon2id alone", {
      own,
      peer: alone,
      rounds: ROUNDS,
      limit: LIMIT,
    });
  } finally {
    peer.child.kill();
    await iam.stop();
  }
}

if (import.meta.main) await benchIamPassword();
