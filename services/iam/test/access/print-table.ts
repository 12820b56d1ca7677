import { CALLER_NAMES, CALLERS } from "./callers.ts";
import { ROWS } from "./expected.ts";

const INTRODUCTION = `# Who may administer svc-iam

Each row is a request of the API, each column somebody who makes it; ✓ means that it is allowed. The test
\`services/iam/test/access\` makes each of these calls on a running service and writes this page. Zone and group are
those that the request is about, acme and a group at its top; \`zone\` relations may also be held through groups. What
is special about a request is in brackets.
`;

/** The page of the table. */
export function administrationPage(): string {
  const legend = CALLER_NAMES.map((name, index) => `${index + 1}. ${CALLERS[name]}`);
  const columns = CALLER_NAMES.map((_, index) => String(index + 1));
  const lines = [
    ["RPC", ...columns],
    ["---", ...columns.map(() => ":-:")],
    ...ROWS.map(({ rpc, about, allowed }) => [
      about === undefined ? `\`${rpc}\`` : `\`${rpc}\` (${about})`,
      ...CALLER_NAMES.map((name) => (allowed.includes(name) ? "✓" : "")),
    ]),
  ];
  const table = lines.map((cells) => `| ${cells.join(" | ")} |`);
  return `${INTRODUCTION}\n${legend.join("\n")}\n\n${table.join("\n")}\n`;
}
