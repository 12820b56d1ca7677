import { Command, Option } from "commander";
import type { Rpc } from "../api/api.ts";
import { bindingsOf, eachRpc } from "../api/resolved-policy.ts";
import { note } from "../common/note.ts";
import { printable, printableJson } from "../common/printable.ts";
import { checkInputs, type PlatformFlags, platformFlags } from "./input/check-inputs.ts";
import { count } from "./report/findings.ts";

interface RoutesFlags extends PlatformFlags {
  readonly format: string;
}

/** One line of the listing. */
interface Row {
  readonly method: string;
  readonly path: string;
  readonly exposure: string;
  readonly published: boolean;
  readonly rpc: string;
}

/** `svc-access routes INPUT…`. */
export function routesCommand(): Command {
  const command = new Command("routes")
    .description("Lists the routes of each RPC and who may call it.")
    .usage("[options] <input...>")
    .argument("[input...]", "folders of protos, images, or - for an image on standard input")
    .addOption(
      new Option("--format <format>", "the output format")
        .choices(["text", "json"])
        .default("text"),
    )
    .addHelpText(
      "after",
      `
Examples:
  svc-access routes .
  svc-access routes --format json . | jq '.routes[] | select(.published)'`,
    )
    .action(routes);
  for (const flag of platformFlags()) command.addOption(flag);
  return command;
}

async function routes(names: readonly string[], flags: RoutesFlags): Promise<void> {
  const { checked } = await checkInputs(names, flags);
  const rows = [...eachRpc(checked.api.services)].flatMap(({ rpc }) => rowsOf(rpc));
  if (flags.format === "json") {
    process.stdout.write(`${printableJson({ routes: rows })}\n`);
  } else {
    process.stdout.write(table(rows));
  }
  const errors = checked.diagnostics.filter(({ severity }) => severity === "error").length;
  // A listing of wrong policies is still useful, but must not look trustworthy.
  if (errors > 0) {
    note(
      `${count(errors, "error")} in the access policies; svc-access lint ${names.join(" ")} lists them`,
    );
    process.exitCode = 1;
  }
}

function rowsOf(rpc: Rpc): Row[] {
  const exposure = rpc.policy?.exposure;
  const facts = {
    exposure: typeof exposure === "string" ? exposure : "none",
    published: rpc.policy?.gateway?.publish === true,
    rpc: rpc.fullName,
  };
  const bindings = bindingsOf(rpc);
  if (bindings.length === 0) return [{ method: "gRPC", path: `/${rpc.fullName}`, ...facts }];
  return bindings.map(({ method, path }) => ({ method, path, ...facts }));
}

function table(rows: readonly Row[]): string {
  const header = ["METHOD", "PATH", "EXPOSURE", "EDGE", "RPC"];
  const cells = rows.map(({ method, path, exposure, published, rpc }) => {
    return [printable(method), printable(path), exposure, published ? "published" : "-", rpc];
  });
  const widths = header.map((title, column) =>
    cells.reduce((width, row) => Math.max(width, row[column]?.length ?? 0), title.length),
  );
  return [header, ...cells]
    .map(
      (row) =>
        `${row
          .map((cell, column) => cell.padEnd(widths[column] ?? 0))
          .join("  ")
          .trimEnd()}\n`,
    )
    .join("");
}
