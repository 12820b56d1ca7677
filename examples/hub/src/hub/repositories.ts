import type { CallContext, ServiceClient } from "svc-access/runtime";
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
      await client.createRepository({ repositoryId }, { context });
    },
    async delete(repositoryId, context) {
      await client.deleteRepository({ repositoryId }, { context });
    },
  };
}
