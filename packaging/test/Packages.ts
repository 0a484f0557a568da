/**
 * What is published and packed, installed into a project that has nothing else: by npm or, where many projects would
 * take npm too long, by our own hands.
 */
import { execFile } from "node:child_process"
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { dirname, join, relative, sep } from "node:path"
import { promisify } from "node:util"
import * as tar from "tar"
import { tarballOf } from "../Packed.ts"
import { folders, manifestOf, root } from "../Published.ts"

/**
 * Has npm install every package into an empty project. Others' packages are those that our own lock names, so that they
 * come from npm's cache, where the install of this repository has left them.
 */
export const installByNpm = async (packed: string, project: string): Promise<void> => {
  const dependencies = Object.fromEntries([...folders.keys()].map((name) => [name, `file:${tarballOf(packed, name)}`]))
  const { lockfileVersion, packages }: {
    readonly lockfileVersion: number
    readonly packages: Readonly<Record<string, { readonly link?: boolean }>>
  } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"))
  const others = Object.entries(packages).filter(([place, { link }]) => place.startsWith("node_modules/") && !link)
  const manifest = { private: true, type: "module", dependencies }
  writeFileSync(join(project, "package.json"), JSON.stringify(manifest))
  writeFileSync(
    join(project, "package-lock.json"),
    JSON.stringify({ lockfileVersion, packages: { "": manifest, ...Object.fromEntries(others) } })
  )
  await promisify(execFile)("npm", ["install", "--prefer-offline", "--ignore-scripts", "--no-audit", "--no-fund"], {
    cwd: project
  })
}

/** Where this repository has a dependency of one of its packages. */
const installedHere = (dependant: string, dependency: string): string => {
  const place = [folders.get(dependant)!, root].map((folder) => join(folder, "node_modules", dependency))
    .find(existsSync)
  if (place === undefined) throw new Error(`${dependant} declares ${dependency}, which is not installed`)
  return place
}

/** Installs a package of others as a link to where it is. */
export const link = (target: string, path: string): void => {
  if (existsSync(path)) return
  mkdirSync(dirname(path), { recursive: true })
  symlinkSync(target, path, "dir")
}

/**
 * Installs packed packages into a project, with those of ours that they declare, and theirs. Others' packages are those
 * of this repository, so that nothing is fetched; only what is declared can be found. What is optional is installed too,
 * unless it is left out.
 */
export const install = (
  packed: string,
  project: string,
  names: ReadonlyArray<string>,
  isOptionalLeftOut = false
): void => {
  const modules = join(project, "node_modules")
  for (const name of names) {
    const place = join(modules, name)
    if (existsSync(place)) continue
    mkdirSync(place, { recursive: true })
    tar.extract({ file: tarballOf(packed, name), cwd: place, strip: 1, sync: true })
    const { dependencies, peerDependencies, peerDependenciesMeta } = manifestOf(place)
    for (const dependency of Object.keys({ ...dependencies, ...peerDependencies })) {
      if (isOptionalLeftOut && peerDependenciesMeta?.[dependency]?.optional === true) continue
      if (folders.has(dependency)) install(packed, project, [dependency], isOptionalLeftOut)
      else link(installedHere(name, dependency), join(modules, dependency))
    }
  }
}

/** The same for what a project's own manifest declares, to run it and to develop it. */
export const installDeclared = (packed: string, project: string): void => {
  const { dependencies, devDependencies } = manifestOf(project)
  for (const dependency of Object.keys({ ...dependencies, ...devDependencies })) {
    if (folders.has(dependency)) install(packed, project, [dependency])
    else link(join(root, "node_modules", dependency), join(project, "node_modules", dependency))
  }
}

/** An installed package, and its size in bytes without what is installed inside of it. */
export interface Installed {
  readonly name: string
  readonly place: string
  readonly bytes: number
}

const bytesIn = (place: string): number =>
  readdirSync(place, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !relative(place, entry.parentPath).split(sep).includes("node_modules"))
    .reduce((sum, { name, parentPath }) => sum + statSync(join(parentPath, name)).size, 0)

const foundFrom = (folder: string, name: string): string => {
  const place = join(folder, "node_modules", name)
  if (existsSync(place)) return realpathSync(place)
  if (dirname(folder) === folder) throw new Error(`${name} is not installed`)
  return foundFrom(dirname(folder), name)
}

/** What npm installs with a package that {@link install} has installed: all that it needs, and what those need. */
export const installedWith = (project: string, name: string): ReadonlyArray<Installed> => {
  const found = new Map<string, Installed>()
  const visit = (folder: string, name: string): void => {
    const place = foundFrom(folder, name)
    if (found.has(place)) return
    found.set(place, { name, place, bytes: bytesIn(place) })
    const { dependencies, peerDependencies = {}, peerDependenciesMeta = {} } = manifestOf(place)
    const peers = Object.keys(peerDependencies).filter((peer) => peerDependenciesMeta[peer]?.optional !== true)
    for (const dependency of [...Object.keys(dependencies ?? {}), ...peers]) visit(place, dependency)
  }
  visit(project, name)
  return [...found.values()]
}
