import type { AuthenticatorDependencies } from "../../../src/runtime/authn/create-authenticators.ts";
import { identificationStages } from "../../../src/runtime/authn/identification-stages.ts";
import type { Call } from "../../../src/runtime/call/call.ts";
import { callOf, configOf, outcomeOf, recordEvents, recordLog, type TestCall } from "./calls.ts";

/** The stages of a configuration, from context injection to authentication, in one function. */
export function stagesOf(
  authn: Record<string, unknown>,
  rest: Record<string, unknown> = {},
  more: Partial<AuthenticatorDependencies> = {},
) {
  const { events, reported } = recordEvents();
  const config = configOf({ gateway: { trusted_peers: ["10.1.2.0/24"] }, ...authn }, rest);
  const stages = identificationStages(config, { events, logger: recordLog().logger, ...more });
  const run = (call: Call) => {
    stages.contextInjection(call);
    stages.requestInfo(call);
    stages.metadata(call);
    return stages.authentication(call);
  };
  return {
    reported,
    run,
    /** The call, if it passed. */
    async passed(test: TestCall): Promise<Call> {
      const call = callOf(test);
      await run(call);
      return call;
    },
    outcome(test: TestCall): Promise<string> {
      const call = callOf(test);
      return outcomeOf(() => run(call));
    },
  };
}
