import { constantAnswers, PROCEDURE, specJson } from "../../src/plugin/check-constants.ts";

/** The constant answers of the check plugin, so that it starts without loading the rules. */
export function checkAnswersSource(): string {
  const { spec, listRules, listCategories, getPluginInfo } = constantAnswers();
  const answers = {
    spec: { binary: base64(spec), json: specJson() },
    [PROCEDURE.listRules]: { binary: base64(listRules) },
    [PROCEDURE.listCategories]: { binary: base64(listCategories) },
    [PROCEDURE.getPluginInfo]: { binary: base64(getPluginInfo) },
  };
  return `// Generated from the rules by npm run generate. DO NOT EDIT.
/** The constant answers of the check plugin, by procedure. */
export const CHECK_ANSWERS: Readonly<
  Record<string, { readonly binary: string; readonly json?: string }>
> = ${JSON.stringify(answers, undefined, 2)};
`;
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64");
}
