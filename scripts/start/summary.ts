import type { Addresses } from "./addresses.ts";
import { curlLines } from "./curl-lines.ts";
import { clientsLine } from "./programs.ts";
import type { DataFolder, Seeded } from "./state.ts";

/** What a summary is made of. */
export interface SummaryParts {
  readonly addresses: Addresses;
  readonly data: Pick<DataFolder, "path" | "systemTokenFile">;
  /** The configuration of svc-iam. */
  readonly iamConfig: string;
  readonly password: string;
  readonly seeded: Seeded;
}

/** What a person needs once everything runs. */
export function summary({ addresses, data, iamConfig, password, seeded }: SummaryParts): string {
  const { iam, iamGrpc, iamMetrics, hub, hubGrpc, hubMetrics, gitGrpc, gitMetrics } = addresses;
  const lines = curlLines(addresses, seeded).map(
    ({ shows, command }) => `  # ${shows}\n  ${command}\n`,
  );
  return `
The platform is ready.

  svc-iam  ${iam}   gRPC ${iamGrpc}   metrics http://${iamMetrics}/metrics
  hub      ${hub}   gRPC ${hubGrpc}   metrics http://${hubMetrics}/metrics
  git                               gRPC ${gitGrpc}   metrics http://${gitMetrics}/metrics

Log in at ${iam}/v1/iam/ui/login as alice, the owner of the zone, bob or carol:

  user name  alice
  password   ${password}

In another shell:

${lines.join("\n")}
  # the clients of svc-iam, as the platform itself: by the system token of this start
  ${clientsLine(addresses, iamConfig, data.systemTokenFile)}

The data and the logs are in ${data.path}. The next start continues with them; npm start -- --fresh begins anew.
Ctrl-C ends everything.
`;
}
