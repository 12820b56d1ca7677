import type { Api, Rpc } from "../api/api.ts";
import { eachRpc, type Policy, resolvePolicy } from "../api/resolved-policy.ts";
import { note } from "../common/note.ts";
import { printable, printableJson } from "../common/printable.ts";
import { DEFAULT_CONFIG } from "../compiler/platform.ts";
import { formatDiagnostic } from "../diagnostics/diagnostic.ts";
import { didYouMean } from "../diagnostics/nearest.ts";
import { UsageError } from "../diagnostics/usage-error.ts";
import { policyDocument } from "../emit/policy-document.ts";
import { grantsOf, type Model, type PermissionGrants } from "../model/index.ts";
import type { LocatedDiagnostic } from "../rules/check-api.ts";
import { describeRpc, edgeLines } from "./describe-rpc.ts";
import { checkInputs, type PlatformFlags } from "./input/check-inputs.ts";
import { withDisplayPaths } from "./input/inputs.ts";

/** The options of `svc-access explain`. */
export interface ExplainFlags extends PlatformFlags {
  readonly format: string;
}

/** Explains an RPC: the arguments are inputs, and the RPC. */
export async function explain(args: readonly string[], flags: ExplainFlags): Promise<void> {
  const names = args.slice(0, -1);
  const [method = ""] = args.slice(-1);
  if (names.length === 0) {
    throw new UsageError(
      "explain needs an input and an RPC, such as svc-access explain . GetOrder",
    );
  }
  const { inputs, platform, checked } = await checkInputs(names, flags);
  const { rpc, deployed, isClient } = findRpc(checked.api, method);
  if (isClient) {
    throw new UsageError(
      `${rpc.fullName} is only called from here, so its access policy is not here: ask the repository that serves it`,
    );
  }
  const own = checked.diagnostics.filter((diagnostic) => concerns(diagnostic, rpc));
  const errors = own.filter(({ severity }) => severity === "error");
  if (errors.length > 0) {
    // A wrong policy must not be explained as if it were enforced.
    for (const diagnostic of withDisplayPaths(errors, inputs)) {
      process.stderr.write(`${formatDiagnostic(diagnostic)}\n`);
    }
    process.exitCode = 1;
    return;
  }
  const policy = resolvePolicy(rpc);
  const model = platform.modelOf(deployed ?? "");
  const grants = grantsFor(policy, model);
  if (policy.authz !== undefined && model === undefined) {
    const file = platform.config?.file ?? DEFAULT_CONFIG;
    note(
      `without a model, the relations that grant the permission are unknown; name one with model: in ${file}`,
    );
  }
  if (flags.format === "json") {
    const document = { rpc: rpc.fullName, ...policyDocument(rpc), grants: grants?.grant };
    process.stdout.write(`${printableJson(document)}\n`);
  } else {
    const edge = edgeLines(checked.api, rpc, policy, deployed);
    process.stdout.write(`${describeRpc(rpc, policy, grants, edge).map(printable).join("\n")}\n`);
  }
}

/** An RPC of the input. */
interface Found {
  readonly rpc: Rpc;
  /** The deployed service; absent if none has the package. */
  readonly deployed?: string;
  /** Whether it is only called from here. */
  readonly isClient: boolean;
}

/**
 * Finds the RPC with a name, or with the end of one.
 *
 * @throws UsageError if there is none, or more than one.
 */
function findRpc(api: Api, method: string): Found {
  const entries = [...allRpcs(api)];
  const name = method.replace(/^\//, "");
  if (name.trim() === "") {
    throw new UsageError("the name of the RPC is empty; svc-access routes lists all RPCs");
  }
  const spellings = ({ rpc: { fullName } }: Found) => [fullName, fullName.replace("/", ".")];
  const exact = entries.find((entry) => spellings(entry).includes(name));
  if (exact !== undefined) return exact;
  const ends = entries.filter((entry) =>
    spellings(entry).some(
      (spelling) => spelling.endsWith(`/${name}`) || spelling.endsWith(`.${name}`),
    ),
  );
  // RPCs that are served here take precedence.
  const served = ends.filter(({ isClient }) => !isClient);
  const found = served.length > 0 ? served : ends;
  if (found.length === 1 && found[0] !== undefined) return found[0];
  if (found.length > 1) {
    const names = found.map(({ rpc }) => rpc.fullName).join(", ");
    throw new UsageError(`${method} is ambiguous: ${names}; write more of the name`);
  }
  const names = entries.flatMap(({ rpc }) => [rpc.name, rpc.fullName]);
  throw new UsageError(
    `there is no RPC ${method}${didYouMean(name, names) || "; svc-access routes lists them"}`,
  );
}

function* allRpcs(api: Api): Iterable<Found> {
  for (const { rpc, deployed } of eachRpc(api.services)) {
    yield { rpc, deployed: deployed.name, isClient: false };
  }
  for (const { rpcs } of api.unassigned) for (const rpc of rpcs) yield { rpc, isClient: false };
  for (const { rpcs } of api.clients) for (const rpc of rpcs) yield { rpc, isClient: true };
}

/** Whether a diagnostic is at an RPC or inside it. */
function concerns({ file, path }: LocatedDiagnostic, { position }: Rpc): boolean {
  return (
    path !== undefined &&
    file === position.file &&
    position.path.every((step, index) => path[index] === step)
  );
}

function grantsFor({ authz }: Policy, model: Model | undefined): PermissionGrants | undefined {
  if (authz === undefined || model === undefined) return undefined;
  return grantsOf(model, authz.resource.type, authz.action);
}
