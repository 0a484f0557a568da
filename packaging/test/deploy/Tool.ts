/**
 * Programs of the system that some checks need. npm brings none of them; `.ci/run` installs them on Debian.
 */
import { spawnSync } from "node:child_process"

/** The program if the machine has it; if not, the run says what is not tested, and how to install it. */
export const installed = (
  program: string,
  check: ReadonlyArray<string>,
  subject: string,
  install: string
): ReadonlyArray<string> => {
  const isThere = spawnSync(program, [...check]).status === 0
  if (!isThere) {
    process.stderr.write(
      `\nNOT TESTED: ${subject}, because there is no ${program} here.\n` +
        `Install it (${install}) and run the tests again.\n\n`
    )
  }
  return isThere ? [program] : []
}
