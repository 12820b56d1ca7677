import { create } from "@bufbuild/protobuf";
import { timestampNow } from "@bufbuild/protobuf/wkt";
import { requirePrincipal, ServiceError } from "svc-access/runtime";
import { RepositorySchema } from "../../gen/git/v1/repository_service_pb.ts";
import type { RepositoryServiceHandlers } from "../../gen/git/v1/repository_service_server.ts";
import { found, type Store } from "../store.ts";

/** The handlers of RepositoryService. */
export function repositoryHandlers(store: Store): RepositoryServiceHandlers {
  const repositories = store.collection("repository", RepositorySchema);
  return {
    async createRepository({ repositoryId }, context) {
      if (repositoryId === "") {
        throw new ServiceError("INVALID_ARGUMENT", "repository_id is required");
      }
      const existing = repositories.get(repositoryId);
      if (existing !== undefined) return { repository: existing };
      const repository = create(RepositorySchema, {
        repositoryId,
        createdBy: requirePrincipal(context).subjectId,
        createTime: timestampNow(),
      });
      repositories.put(repositoryId, repository);
      return { repository };
    },

    async getRepository({ repositoryId }) {
      return {
        repository: found(repositories.get(repositoryId), `the repository ${repositoryId}`),
      };
    },

    async deleteRepository({ repositoryId }) {
      repositories.delete(repositoryId);
      return {};
    },
  };
}
