const MISSING_ANNOTATION =
  /cannot find `?(?:svc\.access\.v1|google\.api)\.|(?:svc\/access|google\/api)\/[\w/]+\.proto\b.*(?:does not exist|not found)/;
const OF_PACKAGES = /^(?:[^:\n]*\/)?node_modules\//;

/**
 * What buf says of an input that it cannot build, with the fix where it is known.
 *
 * @param said one problem a line
 */
export function explainBuf(said: string, input: string): string {
  const lines = said.split(/\r?\n/);
  const own = lines.filter((line) => !OF_PACKAGES.test(line));
  const left = lines.length - own.length;
  const hints: string[] = [];
  if (left > 0) {
    hints.push(
      `${left} of these problems are of protos below node_modules, which buf reads where no buf.yaml names the modules: pass the folder of your own protos, or images of the services, such as svc-access lint a.binpb b.binpb`,
    );
  }
  if (own.some((line) => MISSING_ANNOTATION.test(line))) {
    hints.push(
      `the protos of svc/access or google/api are not among the modules: run npx svc-access init in the repository, or without buf build an image with protoc --descriptor_set_out=image.binpb --include_imports --include_source_info, and pass image.binpb instead of ${input}`,
    );
  }
  return [...own, ...hints].join("\n");
}
