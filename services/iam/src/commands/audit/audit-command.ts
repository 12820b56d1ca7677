import { type Command, Option } from "commander";
import { apiCommand, commandGroup } from "../run/api-command.ts";
import { runCommand } from "../run/run-command.ts";

const load = () => import("./audit-events.ts");

/** The commands `svc-iam audit …`. */
export function auditCommand(): Command {
  const query = withFilter(
    apiCommand("query", "Show audit events, newest first.", {
      isList: true,
      examples: [
        "svc-iam audit query --from 24h --code FORBIDDEN",
        "svc-iam audit query --principal user:alice --format json",
      ],
    }),
  ).action((flags) => runCommand(async () => (await load()).queryEvents(flags)));
  const exported = withFilter(
    apiCommand("export", "Write all matching audit events, the oldest first.", {
      details: "JSON is one event on a line.",
      examples: [
        "svc-iam audit export --from 2026-11-01 --to 2026-12-01 --format json > november.ndjson",
      ],
    }),
  ).action((flags) => runCommand(async () => (await load()).exportEvents(flags)));
  const follow = withFilter(
    apiCommand("follow", "Show audit events as they are stored, until interrupted.", {
      details: `An event is shown when it is stored and again, with the same id, when it is completed. JSON is
{"event":…,"position":…} on a line: --position continues after one.`,
      examples: ["svc-iam audit follow --risk-level CRITICAL"],
      codes: "0 interrupted, 2 usage, or a server that refuses or does not answer.",
    }),
  )
    .option("--position <position>", "continue after this position (default: from now on)")
    .action((flags) => runCommand(async () => (await load()).followEvents(flags)));
  return commandGroup(
    "audit",
    "Read the audit events of your organization.",
    "Examples:\n  svc-iam audit query --from 1h\n  svc-iam audit follow",
    [query, exported, follow],
  );
}

function withFilter(command: Command): Command {
  const options = [
    new Option("--from <time>", "from this time on: 2026-11-22T10:00:00Z, or a time ago: 15m, 7d"),
    new Option("--to <time>", "before this time, likewise"),
    new Option("--event <type>", "of this type, such as iam.user.create"),
    new Option("--rpc <name>", "of this RPC: package.Service/Method"),
    new Option("--principal <type:id>", "of this caller, such as user:alice"),
    new Option("--resource <type:id>", "about this object"),
    new Option("--decision <decision>", "with this decision").choices([
      "allowed",
      "denied",
      "none",
    ]),
    new Option("--risk-level <level>", "how grave").choices(["LOW", "MEDIUM", "HIGH", "CRITICAL"]),
    new Option("--state <state>", "in this state").choices(["pending", "completed", "unknown"]),
    new Option("--code <code>", "with this response code, such as OK or FORBIDDEN"),
    new Option("--request-id <id>", "of this request"),
    new Option("--trace-id <id>", "of this trace"),
  ];
  for (const option of options) command.addOption(option);
  return command;
}
