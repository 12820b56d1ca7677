import { type CallContext, type ServiceClient, ServiceError } from "svc-access/runtime";
import type { RepositoryService } from "../../gen/git/v1/repository_service_pb.ts";

/** The repositories of skills, which the Git service keeps. */
export interface Repositories {
  create(id: string, context: CallContext): Promise<void>;
  delete(id: string, context: CallContext): Promise<void>;
}

/** Asks the Git service by its generated client, which carries the internal token. */
export function gitRepositories(client: ServiceClient<typeof RepositoryService>): Repositories {
  return {
    async create(repositoryId, context) {
      await client.createRepository({ repositoryId }, { context }).catch(refuse);
    },
    async delete(repositoryId, context) {
      await client.deleteRepository({ repositoryId }, { context }).catch(refuse);
    },
  };
}

/** Whom the Git service refuses is the hub: its caller must not take it for a refusal of theirs. */
function refuse(error: unknown): never {
  const code = error instanceof ServiceError ? error.code : "";
  if (code !== "UNAUTHORIZED" && code !== "FORBIDDEN") throw error;
  throw new ServiceError("INTERNAL", undefined, { cause: error });
}
