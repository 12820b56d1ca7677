import { createHash } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { timestampNow } from "@bufbuild/protobuf/wkt";
import { ServiceError } from "svc-access/runtime";
import {
  type Skill,
  SkillSchema,
  type SkillVersion,
  SkillVersionSchema,
} from "../../gen/hub/skills/v1/skill_pb.ts";
import {
  type GetSkillFileResponse,
  GetSkillFileResponseSchema,
} from "../../gen/hub/skills/v1/skill_service_pb.ts";
import type { SkillPackageServiceHandlers } from "../../gen/hub/skills/v1/skill_service_server.ts";
import { type Collection, found, type Store } from "../store.ts";

const MAX_PACKAGE = 16 * 1024 * 1024;
const MAX_FILE = 1024 * 1024;

/** The packages of skills: each version, and the files of the latest one. */
export class Packages {
  readonly #versions: Collection<SkillVersion>;
  readonly #files: Collection<GetSkillFileResponse>;

  constructor(store: Store) {
    this.#versions = store.collection("skill_version", SkillVersionSchema);
    this.#files = store.collection("skill_file", GetSkillFileResponseSchema);
  }

  /** @param version 0 for the latest */
  version(skillId: string, version: number): SkillVersion {
    const wanted =
      version === 0
        ? this.#versions.list({ parent: skillId, limit: 100_000 }).at(-1)
        : this.#versions.get(keyOf(skillId, version));
    return found(wanted, `version ${version === 0 ? "latest" : version} of the skill ${skillId}`);
  }

  file(skillId: string, path: string): GetSkillFileResponse {
    return found(this.#files.get(`${skillId}/${path}`), `the file ${path}`);
  }

  /** Adds a version whose files are those of a package: a JSON object of paths and texts. */
  add(skillId: string, version: number, content: Uint8Array, digest: string): SkillVersion {
    const files = readPackage(content);
    const added = create(SkillVersionSchema, {
      skillId,
      version,
      digest,
      sizeBytes: BigInt(content.length),
      createTime: timestampNow(),
    });
    this.#files.deleteBelow(skillId);
    for (const [path, text] of files) {
      const bytes = new TextEncoder().encode(text);
      const file = create(GetSkillFileResponseSchema, {
        path,
        content: bytes,
        digest: sha256(bytes),
      });
      this.#files.put(`${skillId}/${path}`, file, skillId);
    }
    this.#versions.put(keyOf(skillId, version), added, skillId);
    return added;
  }

  deleteAll(skillId: string): void {
    this.#files.deleteBelow(skillId);
    this.#versions.deleteBelow(skillId);
  }
}

/** The handlers of SkillPackageService. */
export function packageHandlers(
  skills: Collection<Skill>,
  packages: Packages,
): SkillPackageServiceHandlers {
  return {
    async uploadPackage(requests) {
      let header: { readonly skillId: string; readonly digest: string } | undefined;
      const chunks: Uint8Array[] = [];
      let size = 0;
      for await (const { part } of requests) {
        if (part.case === "header" && header === undefined) {
          header = part.value;
        } else if (part.case === "chunk" && header !== undefined) {
          size += part.value.length;
          if (size > MAX_PACKAGE)
            throw new ServiceError("PAYLOAD_TOO_LARGE", "a package has at most 16 MiB");
          chunks.push(part.value);
        } else {
          throw new ServiceError(
            "INVALID_ARGUMENT",
            "the first message has the header, all others a chunk",
          );
        }
      }
      if (header === undefined) throw new ServiceError("INVALID_ARGUMENT", "there is no header");
      const { skillId, digest } = header;
      const skill = found(skills.get(skillId), `the skill ${skillId}`);
      const content = Buffer.concat(chunks);
      if (sha256(content) !== digest) {
        throw new ServiceError(
          "INVALID_ARGUMENT",
          "the package does not have the digest of its header",
        );
      }
      const version = packages.add(skillId, skill.latestVersion + 1, content, digest);
      skills.put(
        skillId,
        create(SkillSchema, { ...skill, latestVersion: version.version }),
        skill.spaceId,
      );
      return { version };
    },

    async rebuildIndex() {
      // The index is the store's own.
      return {};
    },
  };
}

function readPackage(content: Uint8Array): [string, string][] {
  let files: unknown;
  try {
    files = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(content));
  } catch {
    throw new ServiceError("INVALID_ARGUMENT", "the package is no JSON");
  }
  const entries = typeof files === "object" && files !== null ? Object.entries(files) : [];
  for (const [path, text] of entries) {
    if (typeof text !== "string" || text.length > MAX_FILE) {
      throw new ServiceError("INVALID_ARGUMENT", `the file ${path} is no text of at most 1 MiB`);
    }
  }
  return entries as [string, string][];
}

function keyOf(skillId: string, version: number): string {
  return `${skillId}/${String(version).padStart(10, "0")}`;
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
