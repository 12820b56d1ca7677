import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { BREAKING_CATEGORY, BREAKING_RULES } from "../rules/breaking/index.ts";
import { CATEGORIES, RULES } from "../rules/index.ts";
import { encodeResponse } from "./check-messages.ts";

/** The procedures that the plugin serves, by path. */
export const PROCEDURE = {
  check: "/buf.plugin.check.v1.CheckService/Check",
  listRules: "/buf.plugin.check.v1.CheckService/ListRules",
  listCategories: "/buf.plugin.check.v1.CheckService/ListCategories",
  getPluginInfo: "/buf.plugin.info.v1.PluginInfoService/GetPluginInfo",
} as const;

const RULE_TYPE_LINT = 1;
const RULE_TYPE_BREAKING = 2;

/**
 * The answers that never change. They are stored, so that the plugin loads no code
 * to make them: buf asks for each of them several times per run.
 */
export function constantAnswers(): Record<
  "spec" | "listRules" | "listCategories" | "getPluginInfo",
  Uint8Array
> {
  return {
    spec: encodeSpec(),
    listRules: encodeResponse("buf.plugin.check.v1.ListRulesResponse", encodeRules()),
    listCategories: encodeResponse(
      "buf.plugin.check.v1.ListCategoriesResponse",
      encodeCategories(),
    ),
    getPluginInfo: encodeResponse("buf.plugin.info.v1.GetPluginInfoResponse", encodeInfo()),
  };
}

/** The answer to `--spec` as JSON, its default format. */
export function specJson(): string {
  return JSON.stringify({ procedures: Object.values(PROCEDURE).map((path) => ({ path })) });
}

function encodeSpec(): Uint8Array {
  const writer = new BinaryWriter();
  for (const path of Object.values(PROCEDURE)) {
    writer.tag(1, WireType.LengthDelimited).fork();
    writer.tag(1, WireType.LengthDelimited).string(path);
    writer.join();
  }
  return writer.finish();
}

function encodeRules(): Uint8Array {
  const writer = new BinaryWriter();
  const rules = [
    ...RULES.map((rule) => ({ ...rule, type: RULE_TYPE_LINT })),
    ...BREAKING_RULES.map((rule) => ({
      ...rule,
      category: BREAKING_CATEGORY.id,
      type: RULE_TYPE_BREAKING,
    })),
  ];
  for (const { id, category, purpose, type } of rules) {
    writer.tag(2, WireType.LengthDelimited).fork();
    writer.tag(1, WireType.LengthDelimited).string(id);
    writer.tag(2, WireType.LengthDelimited).string(category);
    if (category !== "ACCESS_RECOMMENDED") writer.tag(3, WireType.Varint).bool(true);
    writer.tag(4, WireType.LengthDelimited).string(purpose);
    writer.tag(5, WireType.Varint).int32(type);
    writer.join();
  }
  return writer.finish();
}

function encodeCategories(): Uint8Array {
  const writer = new BinaryWriter();
  for (const { id, purpose } of [...CATEGORIES, BREAKING_CATEGORY]) {
    writer.tag(2, WireType.LengthDelimited).fork();
    writer.tag(1, WireType.LengthDelimited).string(id);
    writer.tag(2, WireType.LengthDelimited).string(purpose);
    writer.join();
  }
  return writer.finish();
}

function encodeInfo(): Uint8Array {
  const writer = new BinaryWriter();
  writer.tag(1, WireType.LengthDelimited).fork();
  writer
    .tag(1, WireType.LengthDelimited)
    .string(
      "Lints the option svc.access.v1.policy: every RPC has an access policy that can be enforced and is not weaker than before. Options: config and model, the paths of svc-access.yaml and of the authorization model.",
    );
  writer.join();
  return writer.finish();
}
