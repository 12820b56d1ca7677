import {
  IAMAuthorizationService,
  IAMAuthorizationServiceExplainPermissionResponseSchema,
} from "../../../gen/svc/iam/v1/administration_pb.ts";
import { IAMAuthorizationServiceRoutes } from "../../../gen/svc/iam/v1/administration_server.ts";
import { connect } from "../connection/connection.ts";
import { namedObject } from "../connection/names.ts";
import { objectOf, permissionOf, subjectOf } from "../connection/references.ts";
import type { CallFlags } from "../run/flags.ts";
import { printJson, printLine } from "../run/print.ts";
import { jsonOf } from "../run/print-messages.ts";
import { EXIT } from "../run/run-command.ts";
import { explanationLines } from "./explanation-text.ts";
import { NEWEST } from "./newest.ts";

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
    consistency: NEWEST,
    permission,
    resource: await namedObject(connection, resource),
    ...(subject === undefined ? {} : { subject: await namedObject(connection, subject) }),
  };
  if (explain) {
    const explained = await service.explainPermission(request);
    if (format === "json") {
      await printJson(jsonOf(IAMAuthorizationServiceExplainPermissionResponseSchema, explained));
    } else {
      for (const line of explanationLines(explained)) await printLine(line);
    }
    return explained.allowed ? EXIT.done : EXIT.no;
  }
  const { allowed, revision } = await service.checkPermission(request);
  if (format === "json") await printJson({ allowed, revision });
  else await printLine(allowed ? "allowed" : "not allowed");
  return allowed ? EXIT.done : EXIT.no;
}
