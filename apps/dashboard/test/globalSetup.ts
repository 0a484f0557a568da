/**
 * Builds the pages if their sources have changed, once for all test files that are served them.
 */
import { execFileSync } from "node:child_process"
import { join } from "node:path"

export const setup = (): void => {
  execFileSync(process.execPath, [join(import.meta.dirname, "../build.ts")], { stdio: "inherit" })
}
