/** An account whose password many addresses guess. */
import { expect, test } from "vitest";
import { LoginThrottle } from "../../src/people/accounts/throttle/login-throttle.ts";
import { addUser, databaseOf } from "../support/browser-login.ts";
import { startIam } from "../support/iam-service.ts";
import { logInAt } from "../support/log-in-at.ts";
import { PASSWORD } from "../support/memory-accounts.ts";

const TIMEOUT_NS = 2_500_000_000;

test("whoever knows the password logs in, within the time of a call", async () => {
  const grpc = { address: "127.0.0.1:0" };
  const iam = await startIam({ server: { grpc } });
  const port = Number(new URL(iam.origin).port);
  await addUser(iam, "alice");
  await iam.stop();
  const http = { address: `127.0.0.1:${port}`, timeout_ns: TIMEOUT_NS };
  const attacked = await startIam({ folder: iam.folder, port, server: { http, grpc } });
  const throttle = new LoginThrottle(databaseOf(attacked).kysely);
  for (let count = 0; count < 40; count++) await throttle.begin("alice", `198.51.100.${count}`);
  const { accessToken } = await logInAt(attacked, "alice", PASSWORD);
  expect(accessToken).not.toBe("");
  await attacked.stop();
});
