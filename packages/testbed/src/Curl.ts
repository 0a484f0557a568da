/**
 * `curl`, which runs the commands that the service and its guides show.
 */
import * as Program from "./Program.ts"

/** The options of tests that run such a command. */
export const needed = Program.needed({
  programs: ["curl"],
  untested: "curl commands that the service shows",
  install: "apt-get install curl, brew install curl"
})
