/**
 * Working copies of the repository beside the one that runs the tests, whose dependencies are links to what is
 * installed here.
 */
import { execFile } from "node:child_process"
import { existsSync, mkdirSync, readFileSync, symlinkSync } from "node:fs"
import { dirname, join } from "node:path"
import { promisify } from "node:util"
import * as Program from "./Program.ts"

const run = promisify(execFile)

/** The options of tests that copy what the repository tracks or contains. */
export const needed = Program.needed({
  programs: ["git", "tar"],
  untested: "copies of the repository: a clone, its container, the previous version",
  install: "apt-get install git"
})

interface Locked {
  readonly version?: string
  readonly dev?: boolean
  readonly link?: boolean
  readonly resolved?: string
  readonly bin?: Readonly<Record<string, string>>
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
}

type Packages = Readonly<Record<string, Locked>>

const packagesOf = (folder: string): Packages =>
  JSON.parse(readFileSync(join(folder, "package-lock.json"), "utf8")).packages

/** The packages that `npm ci --omit=dev` installs, by their place. */
const lockedIn = (folder: string): ReadonlyArray<readonly [place: string, locked: Locked]> =>
  Object.entries(packagesOf(folder)).filter(([place, { dev = false }]) => !dev && place.includes("node_modules/"))

/** Where a package finds another one: in its own folder, or in one around it. */
const placeOf = (packages: Packages, from: string, name: string): string | undefined => {
  for (let around = from;; around = around.slice(0, Math.max(0, around.lastIndexOf("/")))) {
    const place = `${around === "" ? "" : `${around}/`}node_modules/${name}`
    if (place in packages) return place
    if (around === "") return undefined
  }
}

/** The places of all packages that one of the repository's own needs without its development dependencies. */
const neededBy = (packages: Packages, own: string): ReadonlySet<string> => {
  const places = new Set([own])
  // a set gives what is added on the way too
  for (const place of places) {
    const { dependencies, link = false, optionalDependencies, peerDependencies, resolved } = packages[place]!
    if (link) places.add(resolved!)
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })) {
      const found = placeOf(packages, place, name)
      if (found !== undefined) places.add(found)
    }
  }
  return places
}

/**
 * Puts what `npm ci --omit=dev` puts at the top of `node_modules`, by links to what is installed in `root`: all of it,
 * or what these places name.
 */
export const linkDependencies = (root: string, folder: string, places?: ReadonlySet<string>): void => {
  const modules = join(folder, "node_modules")
  mkdirSync(join(modules, ".bin"), { recursive: true })
  for (const [place, { bin = {}, link = false, resolved }] of lockedIn(folder)) {
    if (place.lastIndexOf("node_modules/") !== 0 || places?.has(place) === false) continue
    mkdirSync(dirname(join(folder, place)), { recursive: true })
    symlinkSync(link ? join(folder, resolved!) : join(root, place), join(folder, place), "dir")
    for (const [name, file] of Object.entries(bin)) symlinkSync(join(folder, place, file), join(modules, ".bin", name))
  }
}

/** Whether what the copy needs of these places is installed in `root` in exactly the same version. */
const needsTheSame = (root: string, folder: string, places?: ReadonlySet<string>): boolean => {
  const here = new Map(lockedIn(root).map(([place, { version }]) => [place, version]))
  return lockedIn(folder).every(([place, { link = false, version }]) =>
    link || places?.has(place) === false || here.get(place) === version
  )
}

/**
 * Copies the files of a commit into `folder`, which must be empty, and gives them their dependencies, or those of one of
 * its packages, such as `apps/server`: by links if they are the ones that are installed in `root`, otherwise as npm
 * installs them. Rejects with what to do if the clone does not contain the commit.
 */
export const copyCommit = async (root: string, commit: string, folder: string, only?: string): Promise<void> => {
  const git = (...args: ReadonlyArray<string>) => run("git", args, { cwd: root })
  await git("cat-file", "-e", `${commit}^{commit}`).catch(() => {
    throw new Error(
      existsSync(join(root, ".git"))
        ? `this clone does not contain commit ${commit}, because its history is cut off: run \`git fetch --unshallow\``
        : `commit ${commit} is needed, and this copy of the files has no history: use a clone`
    )
  })
  const archive = join(folder, "archive.tar")
  await git("archive", "--format=tar", `--output=${archive}`, commit)
  await run("tar", ["-xf", archive, "-C", folder])
  const places = only === undefined ? undefined : neededBy(packagesOf(folder), only)
  if (needsTheSame(root, folder, places)) linkDependencies(root, folder, places)
  else await run("npm", ["ci", "--omit=dev", "--prefer-offline", "--no-audit", "--no-fund"], { cwd: folder })
}
