import { generateKeyPairSync, type KeyObject } from "node:crypto";

/** More than a test that compares keys has at once. */
const COUNT = 8;

const keys: KeyObject[] = [];
let turn = 0;

/**
 * The keys of this process in turn, for providers of tests: each of them needs two, and to make one takes 50 ms of
 * processor time. Their ids differ. With `CI=true` as well, the keys of svc-iam's processes are new.
 */
export async function nextRsaKey(): Promise<KeyObject> {
  const index = turn++ % COUNT;
  keys[index] ??= generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey;
  return keys[index];
}
