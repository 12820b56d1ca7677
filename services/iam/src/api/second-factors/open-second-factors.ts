import { bindIAMSecondFactorService } from "../../../gen/svc/iam/v1/second_factors_server.ts";
import { unimplemented } from "../../ground/rpc/unimplemented.ts";
import type { PartContext, ServicePart } from "../service-part.ts";
import { AccountRights } from "../users/account-rights.ts";
import { secondFactorHandlers } from "./second-factor-handlers.ts";

const ELSEWHERE =
  "second factors are removed with the embedded identity provider only; with another one, at that provider";

/** Opens IAMSecondFactorService. */
export function openSecondFactors(context: PartContext): ServicePart {
  const { configuration, engine, identity } = context;
  const { accounts, factors } = identity;
  if (factors === undefined) {
    return { bindings: [bindIAMSecondFactorService(unimplemented(ELSEWHERE))] };
  }
  const { organization } = configuration.sections.iam;
  const { store } = factors;
  const rights = new AccountRights(engine, organization);
  const handlers = secondFactorHandlers({ store, accounts, rights, organization });
  return { bindings: [bindIAMSecondFactorService(handlers)] };
}
