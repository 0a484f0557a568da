/**
 * Installs npm packages for one test, in a temporary folder: packages that are too large for every run's install.
 */
import { execFile } from "node:child_process"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { leash } from "./Leash.ts"

/** How npm installs packages. */
export interface Options {
  /** Whether their install scripts run; they do not by default, because Prisma's would download programs. */
  readonly withScripts?: boolean
}

/** The folder with the packages, and how to delete it. */
export interface Installed {
  readonly folder: string
  readonly remove: () => Promise<void>
}

/** Has npm install packages into a new folder, which is deleted at the latest when this process ends. */
export const install = async (
  packages: ReadonlyArray<string>,
  { withScripts = false }: Options = {}
): Promise<Installed> => {
  const folder = await mkdtemp(join(tmpdir(), "wac-installed-"))
  const release = leash({ directory: folder })
  await writeFile(join(folder, "package.json"), JSON.stringify({ type: "module" }))
  const scripts = withScripts ? [] : ["--ignore-scripts"]
  await promisify(execFile)("npm", ["install", "--no-audit", "--no-fund", ...scripts, ...packages], { cwd: folder })
  return {
    folder,
    remove: async () => {
      release()
      await rm(folder, { recursive: true })
    }
  }
}
