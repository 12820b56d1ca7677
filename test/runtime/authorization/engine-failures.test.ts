/** Which failed calls are counted as such that the authorization engine has not answered. */
import { expect, onTestFinished, test } from "vitest";
import { AuthzError } from "../../../src/authz/engine/authz-error.ts";
import {
  countFailedHandlers,
  countUndecided,
} from "../../../src/runtime/authorization/engine-failures.ts";
import { ServiceError } from "../../../src/runtime/error/service-error.ts";
import { toServiceError } from "../../../src/runtime/error/to-service-error.ts";
import { NO_EVENTS } from "../../../src/runtime/events/runtime-events.ts";
import { bindVaultService } from "../fixture/gen/acme/vault/v1/vault_server.ts";
import { newCall } from "../support/call.ts";
import { vaultHandlers } from "../support/vault-handlers.ts";
import { startVault } from "../support/vault-server.ts";

function counting() {
  const outcomes: string[] = [];
  const events = { ...NO_EVENTS, authorization: (outcome: string) => void outcomes.push(outcome) };
  return { outcomes, events, observer: countFailedHandlers(events) };
}
const wrapped = (cause: unknown) => new ServiceError("UNAVAILABLE", undefined, { cause });

test.each([
  ["an engine that is not available", toServiceError(new AuthzError("UNAVAILABLE", "down"))],
  ["an engine that is silent", toServiceError(new AuthzError("DEADLINE_EXCEEDED", "late"))],
  ["the same, in an error of the service", wrapped(wrapped(new AuthzError("UNAVAILABLE", "down")))],
])("a call whose handler fails for %s is counted", (_, error) => {
  const { outcomes, observer } = counting();
  observer.end(newCall(), error);
  expect(outcomes).toEqual(["unavailable"]);
});

const ring = wrapped(undefined);
Object.defineProperty(ring, "cause", { value: ring });

test.each([
  ["a success", undefined],
  ["a refusal of the engine", toServiceError(new AuthzError("INVALID_ARGUMENT", "wrong id"))],
  ["a caller that has left", toServiceError(new AuthzError("CANCELLED", "gone"))],
  ["another dependency", wrapped(new Error("connect ECONNREFUSED"))],
  ["an error that is its own cause", ring],
])("%s is not counted", (_, error) => {
  const { outcomes, observer } = counting();
  observer.end(newCall(), error);
  expect(outcomes).toEqual([]);
});

test("a call without a decision before its handler is counted once", () => {
  const { outcomes, events, observer } = counting();
  const call = newCall();
  countUndecided(call, events);
  observer.end(call, toServiceError(new AuthzError("UNAVAILABLE", "down")));
  expect(outcomes).toEqual(["unavailable"]);
});

test("the metrics of a server count it", async () => {
  const handlers = {
    ...vaultHandlers(),
    getNotice: async () => {
      throw new AuthzError("UNAVAILABLE", "down");
    },
  };
  const vault = await startVault({ bindings: [bindVaultService(handlers)] });
  onTestFinished(() => vault.stop());
  const { status } = await fetch(`http://127.0.0.1:${vault.http}/v1/notices/first`);
  expect(status).toBe(503);
  const metrics = await (await fetch(`http://127.0.0.1:${vault.metrics}/metrics`)).text();
  expect(metrics).toContain('svc_access_authorizations_total{outcome="unavailable"} 1\n');
});
