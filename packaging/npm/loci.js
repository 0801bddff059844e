#!/usr/bin/env node
// Runs the program of this platform that has the name of this file. Not here: anything else; npm installs the right optional package.
"use strict";

const path = require("node:path");
const { spawn } = require("node:child_process");

const program = path.basename(__filename, ".js");
const platform = `@loci-local/${process.platform}-${process.arch}`;
const file = process.platform === "win32" ? `${program}.exe` : program;

let binary;
try {
  binary = require.resolve(`${platform}/bin/${file}`);
} catch {
  console.error(`Error: the package ${platform} is not installed`);
  console.error("Hint: npm leaves it out with --omit=optional, and on platforms for which there is none. Install loci-local again,");
  console.error("or take an archive of the release.");
  process.exit(1);
}

// The streams are passed on as they are, so that an agent talks to the program itself.
const child = spawn(binary, process.argv.slice(2), { stdio: "inherit" });
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => child.kill(signal));
}
child.on("error", (error) => {
  console.error(`Error: cannot run ${binary}: ${error.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => {
  if (signal === null) {
    process.exit(code);
  }
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
});
