import { create } from "@bufbuild/protobuf";
import { timestampNow } from "@bufbuild/protobuf/wkt";
import { ServiceError } from "svc-access/runtime";
import {
  type Skill,
  type SkillVersion,
  SkillVersionSchema,
} from "../../gen/hub/skills/v1/skill_pb.ts";
import {
  type GetSkillFileResponse,
  GetSkillFileResponseSchema,
  type PackageHeader,
} from "../../gen/hub/skills/v1/skill_service_pb.ts";
import type { SkillPackageServiceHandlers } from "../../gen/hub/skills/v1/skill_service_server.ts";
import { type Collection, found, type Store } from "../store.ts";
import { readPackage, sha256 } from "./read-package.ts";
import type { Skills } from "./skill-store.ts";

const MAX_PACKAGE = 16 * 1024 * 1024;

/** The packages of skills: each version, and the files of the latest one. */
export class Packages {
  readonly #versions: Collection<SkillVersion>;
  readonly #files: Collection<GetSkillFileResponse>;

  constructor(store: Store) {
    this.#versions = store.collection("skill_version", SkillVersionSchema);
    this.#files = store.collection("skill_file", GetSkillFileResponseSchema);
  }

  /** @param version 0 for the latest */
  version({ skillId, latestVersion }: Skill, version: number): SkillVersion {
    const wanted = version === 0 ? latestVersion : version;
    return found(
      this.#versions.get(`${skillId}/${wanted}`),
      `version ${wanted === 0 ? 1 : wanted} of the skill ${skillId}`,
    );
  }

  file({ skillId }: Skill, path: string): GetSkillFileResponse {
    return found(this.#files.get(`${skillId}/${path}`), `the file ${path}`);
  }

  /** Adds a version, whose files replace those of the one before. */
  add(version: SkillVersion, files: Iterable<readonly [path: string, content: Uint8Array]>): void {
    const { skillId } = version;
    this.#versions.put(`${skillId}/${version.version}`, version, skillId);
    this.#files.deleteBelow(skillId);
    for (const [path, content] of files) {
      const file = create(GetSkillFileResponseSchema, { path, content, digest: sha256(content) });
      this.#files.put(`${skillId}/${path}`, file, skillId);
    }
  }

  deleteAll(skillId: string): void {
    this.#files.deleteBelow(skillId);
    this.#versions.deleteBelow(skillId);
  }
}

/** What serves packages. */
export interface PackageParts {
  readonly store: Store;
  readonly skills: Skills;
  readonly packages: Packages;
}

/** The handlers of SkillPackageService. */
export function packageHandlers({
  store,
  skills,
  packages,
}: PackageParts): SkillPackageServiceHandlers {
  return {
    async uploadPackage(requests) {
      let header: PackageHeader | undefined;
      const chunks: Uint8Array[] = [];
      let size = 0;
      for await (const { part } of requests) {
        if (part.case === "header" && header === undefined) {
          header = part.value;
          skills.get(header.skillId);
        } else if (part.case === "chunk" && header !== undefined) {
          size += part.value.length;
          if (size > MAX_PACKAGE) {
            throw new ServiceError("PAYLOAD_TOO_LARGE", "a package has at most 16 MiB");
          }
          chunks.push(part.value);
        } else {
          throw wrong("the first message has the header, all others a chunk");
        }
      }
      if (header === undefined) throw wrong("there is no header");
      const { skillId, digest } = header;
      const content = Buffer.concat(chunks);
      if (sha256(content) !== digest) {
        throw wrong("the package does not have the digest of its header");
      }
      const files = readPackage(content);
      // Read again: it may have changed while the package was received.
      const skill = skills.get(skillId);
      const version = create(SkillVersionSchema, {
        skillId,
        version: skill.latestVersion + 1,
        digest,
        sizeBytes: BigInt(size),
        createTime: timestampNow(),
      });
      store.transaction(() => {
        packages.add(version, files);
        skills.save({ ...skill, latestVersion: version.version });
      });
      return { version };
    },

    async rebuildIndex() {
      // The index is the store's own.
      return {};
    },
  };
}

function wrong(message: string): ServiceError {
  return new ServiceError("INVALID_ARGUMENT", message);
}
