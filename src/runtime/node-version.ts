/**
 * What each entry that services import loads before all else (`scripts/build.ts`): an older Node
 * would fail later, and say something that names neither itself nor what it lacks.
 */
const NEEDED = 24;
/** As of a process that did not get what it needs to start. */
const EXIT_UNUSABLE = 2;

const { node } = process.versions;
if (Number.parseInt(node, 10) < NEEDED) {
  process.stderr.write(
    `svc-access: services need Node ${NEEDED} or later, and this is Node ${node} (${process.execPath}); only the compiler runs on it\n`,
  );
  process.exit(EXIT_UNUSABLE);
}
