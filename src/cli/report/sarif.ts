import { printable, printableJson } from "../../common/printable.ts";
import { version } from "../../common/version.ts";
import { RULES } from "../../rules/index.ts";
import type { Findings } from "./findings.ts";

/** A SARIF 2.1.0 log, which code-scanning services read. */
export function sarifReport({ diagnostics }: Findings): string {
  const ids = new Map(RULES.map(({ id, purpose }) => [id, purpose]));
  // Findings in the model have their own rules.
  for (const { rule } of diagnostics) if (!ids.has(rule)) ids.set(rule, "");
  const indices = new Map([...ids.keys()].map((id, index) => [id, index]));
  const rules = [...ids].map(([id, purpose]) =>
    purpose === "" ? { id } : { id, shortDescription: { text: purpose } },
  );
  const results = diagnostics.map(({ file, line, column, rule, severity, message }) => {
    const region =
      line === undefined ? {} : { region: { startLine: line, startColumn: column ?? 1 } };
    return {
      ruleId: rule,
      ruleIndex: indices.get(rule),
      level: severity,
      message: { text: printable(message) },
      locations: [{ physicalLocation: { artifactLocation: { uri: uriOf(file) }, ...region } }],
    };
  });
  const log = {
    $schema: "https://json.schemastore.org/sarif-2.1.0.json",
    version: "2.1.0",
    runs: [
      {
        tool: { driver: { name: "svc-access", version, rules } },
        columnKind: "utf16CodeUnits",
        results,
      },
    ],
  };
  return `${printableJson(log)}\n`;
}

function uriOf(file: string): string {
  return file.replaceAll("\\", "/").split("/").map(encodeURIComponent).join("/");
}
