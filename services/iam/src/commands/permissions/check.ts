import { toJson } from "@bufbuild/protobuf";
import {
  type ExplanationStep,
  IAMAuthorizationService,
  IAMAuthorizationServiceExplainPermissionResponseSchema,
} from "../../../gen/svc/iam/v1/administration_pb.ts";
import { IAMAuthorizationServiceRoutes } from "../../../gen/svc/iam/v1/administration_server.ts";
import { connect } from "../connection/connect.ts";
import { namedObject } from "../connection/names.ts";
import { objectOf, permissionOf, subjectOf } from "../connection/references.ts";
import type { CallFlags } from "../run/flags.ts";
import { printable, printJson, printLine } from "../run/print.ts";
import { EXIT } from "../run/run-command.ts";
import { objectText, relationshipText } from "./relationship-texts.ts";

/** A question as it is written. */
export interface Question {
  readonly subject: string;
  readonly permission: string;
  readonly resource: string;
}

/** The flags of `svc-iam check`. */
export interface CheckFlags extends CallFlags {
  readonly explain?: boolean;
}

/** Asks whether a subject holds a permission. @returns the exit code */
export async function check(question: Question, flags: CheckFlags): Promise<number> {
  const { explain = false, format } = flags;
  const subject = question.subject === "me" ? undefined : subjectOf(question.subject);
  const permission = permissionOf(question.permission);
  const resource = objectOf(question.resource);
  await using connection = await connect();
  const service = connection.client(IAMAuthorizationService, IAMAuthorizationServiceRoutes);
  const request = {
    permission,
    resource: await namedObject(connection, resource),
    ...(subject === undefined ? {} : { subject: await namedObject(connection, subject) }),
  };
  if (explain) {
    const explained = await service.explainPermission(request);
    if (format === "json") {
      await printJson(toJson(IAMAuthorizationServiceExplainPermissionResponseSchema, explained));
    } else {
      await printLine(explained.allowed ? "allowed" : "not allowed");
      for (const line of stepLines(explained.steps)) await printLine(line);
    }
    return explained.allowed ? EXIT.done : EXIT.no;
  }
  const { allowed, revision } = await service.checkPermission(request);
  if (format === "json") await printJson({ allowed, revision });
  else await printLine(allowed ? "allowed" : "not allowed");
  return allowed ? EXIT.done : EXIT.no;
}

/** The steps of a decision as a tree, two spaces a level. */
export function stepLines(steps: readonly ExplanationStep[]): readonly string[] {
  const depths: number[] = [];
  return steps.map((step, index) => {
    const depth = index === 0 ? 0 : (depths[step.parent] ?? 0) + 1;
    depths.push(depth);
    const { resource, permission, allowed, kind, relationship, notShown } = step;
    const by =
      notShown !== ""
        ? notShown
        : relationship === undefined
          ? kind
          : relationshipText(relationship);
    const answer = allowed ? "yes" : "no";
    return printable(
      `${"  ".repeat(depth)}${answer.padEnd(3)} ${objectText(resource)}#${permission}${by === "" ? "" : `: ${by}`}`,
    );
  });
}
