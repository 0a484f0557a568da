/**
 * Other versions of Node, from the registry's packages of its binaries.
 */
import { execFile } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"

/** The package that holds a binary for this machine, named as the package `node` does. */
const { arch, platform } = process
const name = `node${platform === "darwin" && arch === "arm64" ? "-bin" : ""}-${
  platform === "win32" ? "win" : platform
}-${arch}`

/** Installs versions of Node, and gives their executables and what removes them. */
export const installNodes = async <Version extends string>(
  versions: ReadonlyArray<Version>
): Promise<{ readonly nodes: { readonly [V in Version]: string }; readonly remove: () => void }> => {
  const folder = mkdtempSync(join(tmpdir(), "wac-nodes-"))
  writeFileSync(
    join(folder, "package.json"),
    JSON.stringify({ dependencies: Object.fromEntries(versions.map((version) => [version, `npm:${name}@${version}`])) })
  )
  await promisify(execFile)("npm", ["install", "--prefer-offline", "--ignore-scripts", "--no-audit", "--no-fund"], {
    cwd: folder
  })
  const executableOf = (version: Version) => {
    const place = join(folder, "node_modules", version)
    return join(place, JSON.parse(readFileSync(join(place, "package.json"), "utf8")).bin.node)
  }
  return {
    nodes: Object.fromEntries(versions.map((version) => [version, executableOf(version)])) as never,
    remove: () => rmSync(folder, { recursive: true })
  }
}
