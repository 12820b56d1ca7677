import { type Command, Option } from "commander";
import { RISK_LEVELS, type RiskLevel } from "../../api/policy.ts";
import { note } from "../../common/note.ts";
import { didYouMean } from "../../diagnostics/nearest.ts";
import type { AuditFilter } from "../../runtime/audit/log/audit-filter.ts";
import { ERROR_CODES } from "../../runtime/error/error-codes.ts";
import { OperatorError, type StoreFlags, storeFlags } from "../command/flags.ts";

/** The flags that all audit commands have. */
export interface FilterFlags extends StoreFlags {
  readonly from?: string;
  readonly to?: string;
  readonly event?: string;
  readonly rpc?: string;
  readonly principal?: string;
  readonly principalId?: string;
  readonly organization?: string;
  readonly resource?: string;
  readonly decision?: "allowed" | "denied" | "none";
  readonly riskLevel?: RiskLevel;
  readonly state?: "pending" | "completed" | "unknown";
  readonly code?: string;
  readonly requestId?: string;
  readonly traceId?: string;
}

/** Adds the flags to a command. */
export function withFilter(command: Command): Command {
  const options = [
    ...storeFlags("the database file of the service"),
    new Option(
      "--from <time>",
      "from this time on: 2026-11-22T10:00:00Z, or a time ago: 15m, 24h, 7d",
    ),
    new Option("--to <time>", "before this time, in the same format"),
    new Option("--event <type>", "of this type, such as item.set"),
    new Option("--rpc <name>", "of this RPC: package.Service/Method"),
    new Option("--principal <type:id>", "of this caller, such as user:alice"),
    new Option("--principal-id <id>", "of callers with this id"),
    new Option("--organization <id>", 'of callers of this organization; "" for events without one'),
    new Option("--resource <type:id>", "about this object"),
    new Option("--decision <decision>", "with this decision").choices([
      "allowed",
      "denied",
      "none",
    ]),
    new Option("--risk-level <level>", "how grave").choices(RISK_LEVELS),
    new Option("--state <state>", "in this state").choices(["pending", "completed", "unknown"]),
    new Option("--code <code>", "with this response code, such as OK or FORBIDDEN"),
    new Option("--request-id <id>", "of this request"),
    new Option("--trace-id <id>", "of this trace"),
  ];
  for (const option of options) command.addOption(option);
  return command;
}

/** The filter of the flags. @throws OperatorError that names the wrong flag */
export function filterOf(flags: FilterFlags, now = Date.now()): AuditFilter {
  const { from, to, event, principal, principalId } = flags;
  const { rpc, organization, resource, decision, riskLevel, state, code, requestId, traceId } =
    flags;
  if (principal !== undefined && principalId !== undefined) {
    throw new OperatorError("--principal and --principal-id cannot be combined");
  }
  const [, principalType, id] = /^([^:]+):(.+)$/s.exec(principal ?? "") ?? [];
  if (principal !== undefined && id === undefined) {
    throw new OperatorError(
      `--principal ${JSON.stringify(principal)} is not valid: write type:id, such as user:alice`,
    );
  }
  if (rpc !== undefined && !rpc.includes("/")) {
    throw new OperatorError(
      `--rpc ${JSON.stringify(rpc)} is not the full name of an RPC: write package.Service/Method, as in the events`,
    );
  }
  checkTexts(flags);
  const fields = {
    from: from === undefined ? undefined : timeOf("--from", from, now),
    to: to === undefined ? undefined : timeOf("--to", to, now),
    type: event,
    principalType,
    principalId: principalId ?? id,
    ...{ rpc, organization, resource, decision, riskLevel, state, code, requestId, traceId },
  };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** The flags of texts that no event has empty, with an example of each. */
const TEXT_FLAGS = {
  event: ["--event", "item.set"],
  principalId: ["--principal-id", "alice"],
  resource: ["--resource", "item:first"],
  code: ["--code", "FORBIDDEN"],
  requestId: ["--request-id", "the id of a request"],
  traceId: ["--trace-id", "the id of a trace"],
} as const satisfies Partial<Record<keyof FilterFlags, readonly [string, string]>>;
const CODES = ["OK", ...Object.keys(ERROR_CODES)];

/**
 * Refuses texts that no event can have. An empty one often comes from an unset variable of a shell,
 * and an export would write an empty archive.
 */
function checkTexts(flags: FilterFlags): void {
  for (const [key, [flag, example]] of Object.entries(TEXT_FLAGS)) {
    if (flags[key as keyof typeof TEXT_FLAGS] !== "") continue;
    throw new OperatorError(`${flag} is empty: write ${example}, or leave the flag out`);
  }
  const { event, code } = flags;
  if (event?.includes("*")) {
    throw new OperatorError(
      `--event ${JSON.stringify(event)} has a wildcard: write the whole type, such as item.set; other tools can search an export`,
    );
  }
  if (code === undefined || CODES.includes(code)) return;
  const near = didYouMean(code, CODES);
  if (!/^[A-Z][A-Z0-9_]*$/.test(code)) {
    throw new OperatorError(
      `--code ${JSON.stringify(code)} is not a code, which is upper case, such as FORBIDDEN${near}`,
    );
  }
  // A service may have codes of its own.
  note(`--code ${code} is not a code of the platform; only a service can define it${near}`);
}

const UNITS: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};
const DATE = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d))?$/;

function timeOf(flag: string, text: string, now: number): number {
  const [, count, unit = ""] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  if (count !== undefined) return Math.max(0, now - Number(count) * (UNITS[unit] ?? 0));
  const time = DATE.test(text) ? Date.parse(text) : Number.NaN;
  if (time >= 0) return time;
  throw new OperatorError(
    `${flag} ${JSON.stringify(text)} is not a time: write 2026-11-22, 2026-11-22T10:00:00Z, or a time ago: 15m, 24h, 7d`,
  );
}
