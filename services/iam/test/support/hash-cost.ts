import { IS_THOROUGH } from "../../../../test/support/effort.ts";
import { PasswordHasher } from "../../src/people/accounts/passwords/password-hasher.ts";

/** A cost of hashes for tests of what is done with passwords. */
export const CHEAP = { memory: 64, passes: 1, parallelism: 1 };

/**
 * The cost in whole services of tests, which hash thousands of passwords, each for 30 ms of processor time: that of
 * production in CI. In the processes of svc-iam that tests start, it is always that.
 */
export const SERVICE_COST = IS_THOROUGH ? undefined : CHEAP;

/** Hashes passwords at the cost of whole services: another one would be replaced at the first login. */
export const serviceHasher = new PasswordHasher(SERVICE_COST);
