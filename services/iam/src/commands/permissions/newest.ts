import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ConsistencySchema } from "../../../gen/svc/iam/v1/relationship_pb.ts";

/**
 * How fresh answers to somebody at the command line are: what the command before has written may be at another
 * replica, and an export must be complete.
 */
export const NEWEST = {
  requirement: { case: "fullyConsistent", value: true },
} as const satisfies MessageInitShape<typeof ConsistencySchema>;
