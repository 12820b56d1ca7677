// Loaded by each program before all else: an older Node.js would fail with an error that does not name it.
const [major, minor] = process.versions.node.split(".").map(Number);
if (major < 20 || (major === 20 && minor < 12)) {
  process.stderr.write(
    `svc-access needs Node 20.12 or later, and this is Node ${process.versions.node} (${process.execPath})\n`,
  );
  process.exit(2);
}
