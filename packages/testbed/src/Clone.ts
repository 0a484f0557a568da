/**
 * Makes further working copies of the repository, at any commit. Their dependencies are links to the packages that are
 * installed here, if the versions are the same.
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

/** The packages that `npm ci --omit=dev` installs, each with its path in the folder. */
const lockedIn = (folder: string): ReadonlyArray<readonly [place: string, locked: Locked]> =>
  Object.entries(packagesOf(folder)).filter(([place, { dev = false }]) => !dev && place.includes("node_modules/"))

/** The path at which a package finds another: in its own `node_modules`, or in one further up. */
const placeOf = (packages: Packages, from: string, name: string): string | undefined => {
  for (let around = from;; around = around.slice(0, Math.max(0, around.lastIndexOf("/")))) {
    const place = `${around === "" ? "" : `${around}/`}node_modules/${name}`
    if (place in packages) return place
    if (around === "") return undefined
  }
}

/** The paths of all packages that one of the repository's own packages needs, without its development dependencies. */
const neededBy = (packages: Packages, own: string): ReadonlySet<string> => {
  const places = new Set([own])
  // iterating a set also visits what is added meanwhile
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
 * Links what `npm ci --omit=dev` would install at the top of `node_modules` to the packages that are installed in
 * `root`: all of them, or those at `places`.
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

/** Whether `root` has the same versions installed that the copy needs: of all packages, or of those at `places`. */
const needsTheSame = (root: string, folder: string, places?: ReadonlySet<string>): boolean => {
  const here = new Map(lockedIn(root).map(([place, { version }]) => [place, version]))
  return lockedIn(folder).every(([place, { link = false, version }]) =>
    link || places?.has(place) === false || here.get(place) === version
  )
}

/**
 * Copies the files of a commit into `folder`, which must be empty, with their dependencies: links to what is installed
 * in `root` if the versions are the same, otherwise installed by npm. `only`, such as `apps/server`, limits the links
 * to the dependencies of that package. If the clone does not contain the commit, rejects with what to do.
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
