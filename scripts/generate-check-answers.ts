/** Writes the constant answers of the check plugin to `src/gen/check-answers.ts`. */
import { writeFileSync } from "node:fs";
import { constantAnswers, PROCEDURE } from "../src/plugin/check-constants.ts";

const { spec, listRules, listCategories, getPluginInfo } = constantAnswers();
const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64");
const answers = {
  spec: {
    binary: base64(spec),
    json: JSON.stringify({ procedures: Object.values(PROCEDURE).map((path) => ({ path })) }),
  },
  [PROCEDURE.listRules]: { binary: base64(listRules) },
  [PROCEDURE.listCategories]: { binary: base64(listCategories) },
  [PROCEDURE.getPluginInfo]: { binary: base64(getPluginInfo) },
};
writeFileSync(
  new URL("../src/gen/check-answers.ts", import.meta.url),
  `// Generated from the rules by npm run generate. DO NOT EDIT.
/** The constant answers of the check plugin, by procedure. */
export const CHECK_ANSWERS: Readonly<
  Record<string, { readonly binary: string; readonly json?: string }>
> = ${JSON.stringify(answers, undefined, 2)};
`,
);
