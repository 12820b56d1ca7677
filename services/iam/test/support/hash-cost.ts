import { PasswordHasher } from "../../src/people/accounts/passwords/password-hasher.ts";

/** A cost of hashes for tests of what is done with passwords. */
export const CHEAP = { memory: 64, passes: 1, parallelism: 1 };

/**
 * The cost in whole services of tests, which hash thousands of passwords: each would take 30 ms of processor time. In the
 * processes of svc-iam that tests start, it is that of production.
 */
export const SERVICE_COST = CHEAP;

/** Hashes passwords at the cost of whole services: another one would be replaced at the first login. */
export const serviceHasher = new PasswordHasher(SERVICE_COST);
